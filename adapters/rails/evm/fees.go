package evm

import (
	"context"
	"math/big"
	"slices"
)

// feePrice is what a transaction offers for gas, in wei.
type feePrice struct{ maxFee, tip *big.Int }

const (
	feeBlocks     = 10 // of which the tips are looked at
	feePercentile = 50
)

// price is the market price of gas.
type price struct {
	base *big.Int // of the next block
	tip  *big.Int
}

// price returns the present price: the fee of the next block, and the median of the tips that recent blocks accepted.
func (r *Rail) price(ctx context.Context) (price, error) {
	var history struct {
		BaseFees []hexBig   `json:"baseFeePerGas"`
		Rewards  [][]hexBig `json:"reward"`
	}
	if err := r.nodes.call(ctx, &request{Method: "eth_feeHistory", Params: []any{quantity(feeBlocks), "latest", []int{feePercentile}},
		Result: &history}); err != nil {
		return price{}, err
	}
	p := price{base: new(big.Int), tip: new(big.Int).Set(r.chain.minTip)}
	if n := len(history.BaseFees); n > 0 {
		p.base = &history.BaseFees[n-1].Int
	}
	var tips []*big.Int
	for _, rewards := range history.Rewards {
		if len(rewards) > 0 {
			tips = append(tips, &rewards[0].Int)
		}
	}
	if len(tips) > 0 {
		slices.SortFunc(tips, func(a, b *big.Int) int { return a.Cmp(b) })
		if median := tips[len(tips)/2]; median.Cmp(p.tip) > 0 {
			p.tip = median
		}
	}
	return p, nil
}

// now returns what has to be offered for the next block.
func (p price) now() *big.Int { return new(big.Int).Add(p.base, p.tip) }

// offer returns what a new transaction offers: enough for several full blocks, which each raise the base fee by an eighth.
// It returns false if not even the next block is below the maximum.
func (p price) offer(maximum *big.Int) (feePrice, bool) {
	if p.now().Cmp(maximum) > 0 {
		return feePrice{}, false
	}
	maxFee := new(big.Int).Mul(p.base, big.NewInt(2))
	maxFee.Add(maxFee, p.tip)
	if maxFee.Cmp(maximum) > 0 {
		maxFee.Set(maximum)
	}
	return feePrice{maxFee, p.tip}, true
}

// replacement returns what a new version of a transaction offers: at least an eighth more than before in both parts, as
// nodes accept no less than a tenth. It returns false if that is above the maximum.
func (p price) replacement(before feePrice, maximum *big.Int) (feePrice, bool) {
	offer, ok := p.offer(maximum)
	if !ok {
		return feePrice{}, false
	}
	after := feePrice{largest(offer.maxFee, raised(before.maxFee)), largest(offer.tip, raised(before.tip))}
	after.maxFee = largest(after.maxFee, after.tip)
	return after, after.maxFee.Cmp(maximum) <= 0
}

// raised returns an eighth more, rounded up.
func raised(n *big.Int) *big.Int {
	more := new(big.Int).Add(n, big.NewInt(7))
	return more.Add(more.Rsh(more, 3), n)
}

func largest(a, b *big.Int) *big.Int {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}
