"""How each construct of the language is read; `engine.feel.parser` is the table of contents."""
