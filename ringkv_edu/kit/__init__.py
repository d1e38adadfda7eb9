"""The instructor's kit: slides, printed sheets, plans and the API page, made from what is there."""
