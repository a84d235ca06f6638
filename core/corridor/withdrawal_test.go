package corridor_test

import (
	"testing"

	"causeway/core/corridor"
	"causeway/core/money"
)

func TestWithdrawalFeesFor(t *testing.T) {
	t.Parallel()
	// Every currency has fees on each of its chains, and on no other rail.
	for _, currency := range money.Currencies() {
		for _, rail := range corridor.Rails() {
			lives := false
			for _, chain := range corridor.Chains(currency) {
				lives = lives || chain == rail
			}
			cost, ok := corridor.WithdrawalFeesFor(currency, rail)
			if ok != lives || ok && (cost.Asset == "" || cost.NetworkFee < 0 || cost.ServiceFee < 0) {
				t.Errorf("%s over %s: %+v, %v", currency, rail, cost, ok)
			}
		}
	}
}
