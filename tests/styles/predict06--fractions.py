from fractions import Fraction

without = Fraction(1, 17)
with_log = Fraction(16, 16 + 16)
