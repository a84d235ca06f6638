package corridor

import (
	"slices"

	"causeway/core/money"
)

// WithdrawalFees are the fees for sending a currency on a chain.
type WithdrawalFees struct {
	// NetworkFee is the approximate fee of the network for one transfer, in the smallest
	// unit of Asset. The service pays it.
	NetworkFee int64
	// Asset is the symbol of the asset in which the network charges its fee, such as ETH; it
	// need not be a supported currency.
	Asset string
	// ServiceFee is the fee of the service, in minor units of the withdrawn currency; it is
	// deducted from the amount.
	ServiceFee int64
}

// withdrawalFees holds the fees by chain. Transfers out are free of charge, so ServiceFee is
// zero.
var withdrawalFees = map[Rail]WithdrawalFees{
	Layer2:    {NetworkFee: 0, Asset: "BTC"},
	Lightning: {NetworkFee: 10, Asset: "BTC"},                    // satoshi, for routing
	Altchain:  {NetworkFee: 5_000, Asset: "SOL"},                 // lamports, for one signature
	Base:      {NetworkFee: 2_000_000_000_000, Asset: "ETH"},     // wei
	Polygon:   {NetworkFee: 2_000_000_000_000_000, Asset: "POL"}, // wei of POL
	Ethereum:  {NetworkFee: 130_000_000_000_000, Asset: "ETH"},   // wei: 65,000 gas at 2 gwei
	Plasma:    {NetworkFee: 65_000_000_000_000, Asset: "XPL"},    // wei of XPL: 65,000 gas at 1 gwei
	Tron:      {NetworkFee: 13_500_000, Asset: "TRX"},            // sun
	Bitcoin:   {NetworkFee: 1_410, Asset: "BTC"},                 // satoshi: 141 virtual bytes at 10
}

// WithdrawalFeesFor returns the fees for sending a currency on a chain, or false if the
// currency is not on it.
func WithdrawalFeesFor(currency money.Currency, chain Rail) (WithdrawalFees, bool) {
	fees, ok := withdrawalFees[chain]
	return fees, ok && slices.Contains(chain.ChainCurrencies(), currency)
}
