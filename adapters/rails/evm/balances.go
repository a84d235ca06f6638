package evm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
	"causeway/ports"
)

// holdingsPage is how many addresses are asked about at once.
const holdingsPage = 500

// Balances returns what the wallet and the deposit addresses hold together, at the last block that was read. The native
// currency is in billionths, without the fraction of one.
func (r *Rail) Balances(ctx context.Context) ([]ports.RailBalance, error) {
	r.contractsChecked.Store(false) // a proxy may have got another contract since
	if err := r.checkContracts(ctx); err != nil {
		return nil, err
	}
	state, err := r.state(ctx)
	if err != nil {
		return nil, err
	}
	blocks, err := r.blocksAt(ctx, []uint64{state.Position})
	if err != nil {
		return nil, err
	}
	at := blocks[state.Position]
	if at == nil {
		return nil, fmt.Errorf("the node does not know block %d", state.Position)
	}
	totals, err := r.totals(ctx, quantity(state.Position))
	if err != nil {
		return nil, err
	}
	totals[r.chain.native].Div(totals[r.chain.native], gwei(1))
	var balances []ports.RailBalance
	for _, currency := range slices.Sorted(maps.Keys(totals)) {
		if !totals[currency].IsInt64() {
			return nil, fmt.Errorf("the balance in %s is larger than an amount can be", currency)
		}
		balances = append(balances, ports.RailBalance{Amount: money.Amount{Minor: totals[currency].Int64(), Currency: currency},
			At: time.Unix(int64(at.Timestamp), 0).UTC()})
	}
	return balances, nil
}

// totals returns the sums over the wallet and the deposit addresses at a block.
func (r *Rail) totals(ctx context.Context, block string) (map[money.Currency]*big.Int, error) {
	holdings := []Holding{{Address: r.wallet, Currency: r.chain.native}}
	totals := map[money.Currency]*big.Int{r.chain.native: new(big.Int)}
	for currency := range r.tokens {
		holdings = append(holdings, Holding{Address: r.wallet, Currency: currency})
		totals[currency] = new(big.Int)
	}
	var after Holding
	for {
		if err := r.addHoldings(ctx, block, holdings, totals); err != nil {
			return nil, err
		}
		page, err := r.store.Holdings(ctx, r.name, after, holdingsPage)
		if err != nil || len(page) == 0 {
			return totals, err
		}
		holdings, after = page, page[len(page)-1]
	}
}

func (r *Rail) addHoldings(ctx context.Context, block string, holdings []Holding, totals map[money.Currency]*big.Int) error {
	natives := make([]hexBig, len(holdings))
	tokens := make([]hexBytes, len(holdings))
	requests := make([]*request, len(holdings))
	for i, h := range holdings {
		contract, isToken := r.tokens[h.Currency]
		switch {
		case isToken:
			requests[i] = callContract(contract, eth.BalanceOfCall(h.Address), block, &tokens[i])
		case h.Currency == r.chain.native:
			requests[i] = &request{Method: "eth_getBalance", Params: []any{eth.FormatAddress(h.Address), block}, Result: &natives[i]}
		default:
			return errors.New("deposit addresses hold " + string(h.Currency) + ", which the connection no longer has; add it to the currencies")
		}
	}
	if err := r.nodes.call(ctx, requests...); err != nil {
		return err
	}
	for i, h := range holdings {
		amount := &natives[i].Int
		if _, isToken := r.tokens[h.Currency]; isToken {
			var err error
			if amount, err = eth.Uint(tokens[i]); err != nil {
				return err
			}
		}
		totals[h.Currency].Add(totals[h.Currency], amount)
	}
	return nil
}
