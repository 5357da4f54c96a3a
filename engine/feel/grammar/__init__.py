"""The rules that read each construct of the language. `engine.feel.parser` is the table of contents."""
