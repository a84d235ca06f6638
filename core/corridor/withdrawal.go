package corridor

import (
	"slices"

	"causeway/core/money"
)

// Withdrawal is what it costs to send a currency out over a chain. The network's fee is
// in the asset the chain itself is paid in, and not part of the other.
type Withdrawal struct {
	// Network is in the smallest unit of Asset, about what one transfer costs.
	Network int64
	// Asset is the symbol of what the chain is paid in, such as ETH; it need not be a
	// currency that can be moved here.
	Asset string
	// Charged is what the service takes from the amount, in minor units of the currency
	// that is withdrawn. The network is paid by the service.
	Charged int64
}

// withdrawals are the costs by chain. Transfers out carry no fee, so nothing is charged.
var withdrawals = map[Rail]Withdrawal{
	Layer2:    {Network: 0, Asset: "BTC"},
	Lightning: {Network: 10, Asset: "BTC"},                    // satoshi, for routing
	Altchain:  {Network: 5_000, Asset: "SOL"},                 // lamports, for one signature
	Base:      {Network: 2_000_000_000_000, Asset: "ETH"},     // wei
	Polygon:   {Network: 2_000_000_000_000_000, Asset: "POL"}, // wei of POL
	Ethereum:  {Network: 130_000_000_000_000, Asset: "ETH"},   // wei: 65,000 gas at 2 gwei
	Tron:      {Network: 13_500_000, Asset: "TRX"},            // sun
}

// WithdrawalCost is what it costs to send the currency out over the chain; false when
// it does not live there.
func WithdrawalCost(currency money.Currency, chain Rail) (Withdrawal, bool) {
	cost, ok := withdrawals[chain]
	return cost, ok && slices.Contains(chain.Holds(), currency)
}
