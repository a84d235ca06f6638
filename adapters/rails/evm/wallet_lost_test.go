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

func TestWallets_ForgottenTransferToAWalletIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	// The database, one of before payments to a wallet were sent, has lost them: they are not sent again, whether their blocks were read or
	// not, nor if others were sent since. A payment of another amount, and one that is made later, are sent.
	for _, read := range []bool{false, true} {
		t.Run(fmt.Sprint("read ", read), func(t *testing.T) {
			t.Parallel()
			e := newWalletEnv(t)
			r, o := e.holding(100)
			e.usdc.Mint(e.env.wallet(), 100)
			e.chain.Mine(3)
			e.poll(r)
			position := e.queryBlock("SELECT position FROM evm_chains")
			paid, refund, other := o.credit(false), o.credit(false), o.credit(false)
			refund.Amount.Minor, refund.Refunded = 7, &ports.Payout{}
			other.Amount.Minor = 9
			r.Credit(t.Context(), []ports.WalletCredit{paid, refund})
			e.chain.Mine(1)
			if read {
				e.chain.Mine(4)
			}
			e.forget(position)
			restored := e.rail()
			if read {
				e.poll(restored)
			}
			for range 3 {
				got := restored.Credit(t.Context(), []ports.WalletCredit{paid, refund, other})
				for _, lost := range got[:2] {
					if lost.Verdict != ports.Waiting || lost.Accepted || !strings.Contains(lost.Text, "no record") {
						t.Errorf("%+v", lost)
					}
				}
				if !got[2].Accepted && got[2].Verdict != ports.Done {
					t.Errorf("of another amount: %+v", got[2])
				}
				e.chain.Mine(1)
			}
			e.mine(restored, 4)
			e.chain.Call("evm_increaseTime", 4000)
			e.mine(restored, 4)
			later := o.credit(false)
			later.Transaction.ID = ident.NewTransaction(o.ids.New, time.Unix(e.now(), 0))
			if got := e.pay(restored, later); !got.Accepted {
				t.Errorf("later: %+v", got)
			}
			e.chain.Mine(4)
			e.wantBalances(100+5+7+9+5, 100-5-7-9-5, o)
		})
	}
}

func TestWallets_PaymentsAskForNoUnreadTransfers(t *testing.T) {
	t.Parallel()
	// As long as all nonces that are used are those of records, no node is asked for the transfers of blocks that were not read.
	e := newWalletEnv(t)
	fakes, url := e.fakeNodes(1)
	r := e.openAt(e.db.Pool(), url)
	o := e.newOwner(r)
	e.usdc.Mint(e.env.wallet(), 100)
	e.chain.Mine(3)
	for range 3 {
		e.pay(r, o.credit(false))
		e.chain.Mine(1)
	}
	e.mine(r, 4)
	asked := fakes[0].count("eth_getLogs")
	for range 2 {
		if got := e.pay(r, o.credit(false)); !got.Accepted {
			t.Errorf("%+v", got)
		}
		e.chain.Mine(1)
	}
	if n := fakes[0].count("eth_getLogs") - asked; n != 0 {
		t.Errorf("asked %d times", n)
	}
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
