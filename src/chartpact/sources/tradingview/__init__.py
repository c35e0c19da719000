"""TradingView charts as sources of snapshots."""

from chartpact.sources.tradingview.grants import GrantedChart
from chartpact.sources.tradingview.page import CdpSource

__all__ = ["CdpSource", "GrantedChart"]
