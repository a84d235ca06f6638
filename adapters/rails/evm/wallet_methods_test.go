package evm_test

import (
	"fmt"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/wallet"
	"causeway/ports"
)

func TestWallets_OnlyWhatTheOwnerSigned(t *testing.T) {
	t.Parallel()
	// Whatever the token takes: nothing is sent of a payload that the owner has not signed, or that is for another contract, recipient,
	// chain, method, wallet or payment. It is refused; an authorisation, which another connection may have sent, once its time is over.
	for _, contract := range []string{"TestAuthorizedToken", "TestPermitToken", "TestTether"} {
		t.Run(contract, func(t *testing.T) {
			t.Parallel()
			e := newWalletEnvIn(t, contract)
			r := e.rail()
			o, other := e.newOwner(r), e.newOwner(r)
			o.deposit(r, 1000)
			other.deposit(r, 1000)
			via, err := r.Settlement(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			via.ValidBefore = e.now() + 3600
			for name, change := range map[string]func(*ports.WalletTransfer){
				"value": func(t *ports.WalletTransfer) {
					t.Amount.Minor = 900
					t.Payload = strings.Replace(t.Payload, `"totalSendingAmount":10`, `"totalSendingAmount":900`, 1)
				},
				"time": func(t *ports.WalletTransfer) {
					t.Payload = strings.Replace(t.Payload, `"validBefore":`, `"validBefore":1`, 1)
				},
				"unsigned": func(t *ports.WalletTransfer) {
					e.evidence.Delete(ports.TransactionKey{Platform: e.platform, ID: t.Transaction})
				},
			} {
				pays := o.pays(r, 10, 3600)
				before := pays.Payload
				change(&pays)
				if pays.Payload != before { // the text is altered where it is stored too
					stored, _ := e.evidence.Load(ports.TransactionKey{Platform: e.platform, ID: pays.Transaction})
					altered := stored.(wallet.Authorization)
					altered.Payload = pays.Payload
					e.evidence.Store(ports.TransactionKey{Platform: e.platform, ID: pays.Transaction}, altered)
				}
				for range 2 {
					if got := e.debit(r, pays); got.Verdict == ports.Done || got.Accepted {
						t.Errorf("%s: %+v", name, got)
					}
					e.chain.Mine(1)
				}
			}
			authorizations := map[string]ports.WalletTransfer{}
			for name, change := range map[string]func(*wallet.Settlement){
				"recipient": func(s *wallet.Settlement) { s.To = other.address },
				"contract":  func(s *wallet.Settlement) { s.Contract = other.address },
				"chain":     func(s *wallet.Settlement) { s.ChainID++ },
				"method": func(s *wallet.Settlement) {
					s.Method = map[wallet.Method]wallet.Method{wallet.ByTransaction: wallet.ByPermit}[s.Method]
					if via.Method == wallet.ByAuthorization {
						s.Method = wallet.ByTransaction
					}
				},
			} {
				changed := *via
				change(&changed)
				id := ident.NewTransaction(e.ids.New, noon)
				pays, want := o.transfer(id, 10, o.payload(id, 10, changed)), ports.Refused
				if changed.Method == wallet.ByAuthorization {
					authorizations[name], want = pays, ports.Waiting
				}
				if got := e.debit(r, pays); got.Verdict != want || got.Accepted {
					t.Errorf("%s: %+v", name, got)
				}
			}
			for name, change := range map[string]func(*ports.WalletTransfer){
				"amount":      func(t *ports.WalletTransfer) { t.Amount.Minor++ },
				"transaction": func(t *ports.WalletTransfer) { t.Transaction = ident.NewTransaction(e.ids.New, noon) },
				"wallet":      func(t *ports.WalletTransfer) { t.Wallet = other.id },
				"no payload":  func(t *ports.WalletTransfer) { t.Payload = "" },
			} {
				pays := o.pays(r, 10, 3600)
				change(&pays)
				if got := e.debit(r, pays); got.Verdict != ports.Refused {
					t.Errorf("%s: %+v", name, got)
				}
			}
			e.mine(r, 3)
			for _, pays := range authorizations {
				e.wantExpired(r, pays)
			}
			e.wantBalances(1000, 0, o)
		})
	}
}

func TestWallets_ChainRefusesAnotherSignature(t *testing.T) {
	t.Parallel()
	// The contract takes no signature of another key, for authorisations and for permits.
	for _, contract := range []string{"TestAuthorizedToken", "TestPermitToken"} {
		e := newWalletEnvIn(t, contract)
		r, o := e.holding(1000)
		e.alter = func(s *wallet.SignedTransfer) { s.R[5]++ }
		got := e.debit(r, o.pays(r, 10, 3600))
		if got.Verdict != ports.Waiting || got.Accepted || !strings.Contains(got.Text, "invalid signature") {
			t.Errorf("%s: %+v", contract, got)
		}
	}
}

func TestSettlement_FollowsFromTheContract(t *testing.T) {
	t.Parallel()
	// How wallets pay follows from what the contract of the token takes, and the test of the connection says it. A permit that is not one
	// of EIP-2612, and a domain that is not the one that the contract names, are not used. A connection for other currencies is none of
	// wallets.
	e := newWalletEnv(t)
	for contract, want := range map[string]struct {
		method wallet.Method
		said   string
	}{
		"TestAuthorizedToken": {wallet.ByAuthorization, `authorisations (EIP-3009) for "USD Coin", version "2"`},
		"TestPermitToken":     {wallet.ByPermit, `permits (EIP-2612) for "Permit Dollar", version "1"`},
		"TestOddPermitToken":  {wallet.ByTransaction, `transactions of the wallets of "Odd Dollar"`},
		"TestTether":          {wallet.ByTransaction, "transactions of the wallets"},
	} {
		e.usdc = e.chain.DeployContract(contract)
		e.chain.Mine(1)
		e.extra["account"] = fmt.Sprint(len(contract)) // another wallet
		r := e.rail()
		via, err := r.Settlement(t.Context())
		if err != nil || via.Method != want.method || via.Contract != e.usdc.Address {
			t.Errorf("%s: %+v, %v", contract, via, err)
		}
	}
	e.currency = money.USDC
	if via, err := e.rail().Settlement(t.Context()); err == nil {
		t.Errorf("%+v", via)
	}
}

func TestWallets_AnotherMethodEndsTheTurn(t *testing.T) {
	t.Parallel()
	// A process has the turn for a payment, and the way to pay changes: once the payment is refused, that process adds nothing.
	e := newWalletEnvIn(t, "TestTether")
	r, o := e.holding(100)
	via, err := r.Settlement(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	via.ValidBefore, via.Method = e.now()+3600, wallet.ByPermit
	id := ident.NewTransaction(e.ids.New, noon)
	pays := o.transfer(id, 10, o.payload(id, 10, *via))
	address, err := eth.ParseAddress(o.address)
	if err != nil {
		t.Fatal(err)
	}
	w := evm.Wallet{Connection: "base-main", Rail: corridor.Base, ChainID: 31337, Address: address, Embedded: true}
	if taken, err := e.store().TakeTurn(t.Context(), w, id.UUID(), noon.Add(time.Hour)); err != nil || !taken {
		t.Fatalf("%t, %v", taken, err)
	}
	if got := e.debit(r, pays); got.Verdict != ports.Refused {
		t.Errorf("%+v", got)
	}
	transaction := evm.Transaction{Connection: "base-main", Sender: address, Purpose: evm.WalletDebit, Subject: id.UUID(),
		Platform: e.platform, Value: new(big.Int), Data: []byte{1}, Currency: money.USDB, Amount: big.NewInt(10), State: evm.Pending,
		CreatedAt: noon, UpdatedAt: noon, Attempts: []evm.Attempt{evmAttempt(1)}}
	if _, added, err := e.store().AddTransaction(t.Context(), w, transaction, nil); err != nil || added != evm.NoTurn {
		t.Errorf("%s, %v", added, err)
	}
}

func TestSettlement_StaysUntilAllNodesAgree(t *testing.T) {
	t.Parallel()
	// A node that says something else about the contract, and a token that refuses permits for a while, change nothing.
	e := newWalletEnvIn(t, "TestPermitToken")
	fakes, urls := e.fakeNodes(2)
	without := func(selector string) func(c rpcCall) (any, bool) {
		return func(c rpcCall) (any, bool) {
			return rpcFailure{Code: 3, Message: "execution reverted"},
				c.Method == "eth_call" && strings.Contains(string(c.Params[0]), `"0x`+selector)
		}
	}
	domain, permit := without("3644e515"), without("d505accf")
	r := e.openAt(e.db.Pool(), urls)
	steps := []struct {
		name   string
		answer [2]func(c rpcCall) (any, bool)
		method wallet.Method
		fails  bool
	}{
		{"they disagree at first", [2]func(c rpcCall) (any, bool){1: domain}, "", true},
		{"they agree", [2]func(c rpcCall) (any, bool){}, wallet.ByPermit, false},
		{"one says something else", [2]func(c rpcCall) (any, bool){0: domain}, wallet.ByPermit, false},
		{"permits are refused", [2]func(c rpcCall) (any, bool){permit, permit}, wallet.ByPermit, false},
		{"both say something else", [2]func(c rpcCall) (any, bool){domain, domain}, wallet.ByTransaction, false},
	}
	for _, step := range steps {
		for i, answer := range step.answer {
			fakes[i].set(answer)
		}
		_, _ = r.Balances(t.Context()) // the daily proof finds the way out again
		via, err := r.Settlement(t.Context())
		if (err != nil) != step.fails || err == nil && via.Method != step.method {
			t.Errorf("%s: %+v, %v", step.name, via, err)
		}
	}
}

func TestWallets_AuthorizationsAreSignedTogether(t *testing.T) {
	t.Parallel()
	// The authorisations of a batch are signed several at a time.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	both := make(chan struct{})
	var signing atomic.Int32
	e.alter = func(*wallet.SignedTransfer) {
		if signing.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
		case <-t.Context().Done():
		case <-time.After(time.Minute):
			t.Error("a signature waits for the one before it")
		}
	}
	for i, got := range r.Debit(t.Context(), []ports.WalletTransfer{o.pays(r, 10, 36_000), o.pays(r, 20, 36_000), o.pays(r, 30, 36_000)}) {
		if !got.Accepted {
			t.Errorf("payment %d: %+v", i, got)
		}
	}
	e.chain.Mine(3)
	e.wantBalances(40, 60, o)
}
