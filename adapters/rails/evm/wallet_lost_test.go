package evm_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/ident"
	"causeway/ports"
)

func TestWalletSteps_LostRecordsPayNothingTwice(t *testing.T) {
	// The database, and the custody, are those of before a payment that was made: it is not made again, and stays open for a person. One
	// in a block that was not read yet is found too.
	for _, read := range []bool{false, true} {
		t.Run(fmt.Sprint("read ", read), func(t *testing.T) {
			inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
				position := e.queryBlock("SELECT position FROM evm_chains")
				pays := o.pays(r, 30, 36_000)
				e.wantDone(r, pays)
				e.forget(position)
				restored := e.rail()
				if read {
					e.poll(restored)
				}
				for range 3 {
					if got := e.debit(restored, pays); got.Verdict == ports.Done || got.Accepted || !strings.Contains(got.Text, "no record") {
						t.Errorf("%+v", got)
					}
					e.chain.Mine(3)
				}
				e.wantBalances(70, 30, o)
			})
		})
	}
}

func TestWalletSteps_LostPaymentIsNotRefused(t *testing.T) {
	// The records of a payment that was made are lost. At the end of its time it waits for a person, also if its blocks are read then.
	inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
		position := e.queryBlock("SELECT position FROM evm_chains")
		pays := o.pays(r, 30, 3600)
		e.wantDone(r, pays)
		e.forget(position)
		restored := e.rail()
		e.chain.Call("evm_increaseTime", 4000)
		e.chain.Mine(4)
		for range 2 {
			if got := e.debit(restored, pays); got.Verdict != ports.Waiting || !strings.Contains(got.Text, "no record") {
				t.Errorf("%+v", got)
			}
			e.poll(restored)
		}
		e.wantBalances(70, 30, o)
	})
}

func TestWalletSteps_NothingIsRefusedBeforeItsBlocksAreRead(t *testing.T) {
	inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
		pays := o.pays(r, 30, 3600)
		e.chain.Call("evm_increaseTime", 4000)
		e.chain.Mine(4)
		if got := e.debit(r, pays); got.Verdict != ports.Waiting || !strings.Contains(got.Text, "not read yet") {
			t.Errorf("%+v", got)
		}
		e.poll(r)
		if got := e.debit(r, pays); got.Verdict != ports.Refused || got.Code != "AUTHORIZATION_EXPIRED" {
			t.Errorf("%+v", got)
		}
	})
}

func TestWalletSteps_EarlierTransferOfTheAmountBlocksNothing(t *testing.T) {
	// The owner moves an amount to the connection with the exported key. A payment of this amount that was made before waits for a person;
	// one that is made later is none that could have been lost.
	inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
		pays := func() ports.WalletTransfer {
			via, err := r.Settlement(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			via.ValidBefore = e.now() + 36_000
			id := ident.NewTransaction(e.ids.New, time.Unix(e.now(), 0))
			return o.transfer(id, 30, o.payload(id, 30, *via))
		}
		before := pays()
		to, err := eth.ParseAddress(e.env.wallet())
		if err != nil {
			t.Fatal(err)
		}
		o.asOwner(e.usdc.Address, eth.TransferCall(to, big.NewInt(30)))
		e.chain.Mine(4)
		if got := e.poll(r).Contradictions; len(got) != 1 {
			t.Errorf("%+v", got)
		}
		e.chain.Call("evm_increaseTime", 4000)
		e.mine(r, 4)
		if got := e.debit(r, before); got.Verdict != ports.Waiting || !strings.Contains(got.Text, "no record") {
			t.Errorf("%+v", got)
		}
		e.wantDone(r, pays())
		e.wantBalances(40, 60, o)
	})
}

func (e *walletEnv) queryBlock(sql string) (n int64) {
	e.t.Helper()
	if err := e.db.Pool().QueryRow(e.t.Context(), sql).Scan(&n); err != nil {
		e.t.Fatal(err)
	}
	return n
}

// forget takes the records back to a block.
func (e *walletEnv) forget(position int64) {
	e.t.Helper()
	e.keys.nonces.Clear()
	hash, _ := e.chain.Call("eth_getBlockByNumber", fmt.Sprintf("0x%x", position), false).(map[string]any)["hash"].(string)
	pgtest.ExecAsSuperuser(e.t, e.url, fmt.Sprintf(`SET session_replication_role = replica; DELETE FROM evm_attempts; DELETE FROM evm_transactions;
		DELETE FROM evm_wallets; DELETE FROM evm_holdings WHERE currency = 'ETH'; DELETE FROM evm_blocks WHERE number > %d;
		UPDATE evm_chains SET position = %d, position_hash = '\x%s'`, position, position, strings.TrimPrefix(hash, "0x")))
}
