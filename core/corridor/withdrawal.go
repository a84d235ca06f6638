package corridor

import (
	"slices"

	"causeway/core/money"
)

// WithdrawalFees is what it costs to send a currency out over a chain. The network's fee is
// in the asset the chain itself is paid in, and not part of the other.
type WithdrawalFees struct {
	// NetworkFee is in the smallest unit of Asset, about what one transfer costs.
	NetworkFee int64
	// Asset is the symbol of what the chain is paid in, such as ETH; it need not be a
	// currency that can be moved here.
	Asset string
	// ServiceFee is what the service takes from the amount, in minor units of the currency
	// that is withdrawn. The network is paid by the service.
	ServiceFee int64
}

// withdrawalFees are the costs by chain. Transfers out carry no fee, so nothing is charged.
var withdrawalFees = map[Rail]WithdrawalFees{
	Layer2:    {NetworkFee: 0, Asset: "BTC"},
	Lightning: {NetworkFee: 10, Asset: "BTC"},                    // satoshi, for routing
	Altchain:  {NetworkFee: 5_000, Asset: "SOL"},                 // lamports, for one signature
	Base:      {NetworkFee: 2_000_000_000_000, Asset: "ETH"},     // wei
	Polygon:   {NetworkFee: 2_000_000_000_000_000, Asset: "POL"}, // wei of POL
	Ethereum:  {NetworkFee: 130_000_000_000_000, Asset: "ETH"},   // wei: 65,000 gas at 2 gwei
	Tron:      {NetworkFee: 13_500_000, Asset: "TRX"},            // sun
}

// WithdrawalFeesFor returns what it costs to send the currency out over the chain; false when
// it does not live there.
func WithdrawalFeesFor(currency money.Currency, chain Rail) (WithdrawalFees, bool) {
	cost, ok := withdrawalFees[chain]
	return cost, ok && slices.Contains(chain.ChainCurrencies(), currency)
}
