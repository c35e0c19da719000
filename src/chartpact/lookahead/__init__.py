"""Does an indicator rewrite its past? It is run on prefixes of the bars, and what it drew compared.

What stood on a chart of k bars must stand on a longer one too, up to bar k - 1: values of plots and
the colours that they have bar by bar, signals, and drawn objects with the words and symbols of
their texts. Objects may be extended to the right, restyled and deleted. Numbers in a text may run
on and words may be added, as of a zone that was touched again; "buy" must not become "sell". A
drawing placed before the bar that revealed it is late. Lateness is reported, not failed. Drawings
marked `provisional` are listed and may change.
"""

from chartpact.lookahead.prover import PREFIXES, SECONDS, Run, prove
from chartpact.lookahead.report import SIGNAL, Late, Proof, Rewrite

__all__ = ["PREFIXES", "SECONDS", "SIGNAL", "Late", "Proof", "Rewrite", "Run", "prove"]
