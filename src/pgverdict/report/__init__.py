"""Shows a run: one model (`model.make_report`), and one small module per format over it.

Every number on a screen or in a file comes from the model, and is spelt by `words`.
"""
