"""The program, whose demonstration plants fewer orders: more than go at a time, and no more than a test must see."""

from vivero.cli import main
from vivero.program import garden

ENDED = garden.AT_A_TIME + 5

if __name__ == "__main__":
    garden.INSTANCES -= garden.ENDED - ENDED
    garden.ENDED = ENDED
    main()
