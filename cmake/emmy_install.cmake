# Placeholder order: filled by the install step below once the library has all its folders.
