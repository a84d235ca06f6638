package evm_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/devnet"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/account"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

// fixture is the world of the checks that every rail passes: a real chain, a wallet, and processes on one store.
type fixture struct {
	*env
	*portstest.RailHandover
	blocked string // an address that the contract refuses
	reports railtest.Reports
	silent  atomic.Bool
	lose    atomic.Bool // the next answer to a transaction
	paid    map[uuid.UUID]string
}

func newFixture(t *testing.T, chain *devnet.Chain, account uint32) *fixture {
	e := newEnvOn(t, chain, account)
	f := &fixture{env: e, RailHandover: e.handover("base-main"), paid: map[uuid.UUID]string{}}
	f.fund(1_000_000_000)
	f.blocked = f.payee()
	f.usdc.SetBlocked(f.blocked)
	fault := f.fault
	f.proxy.fault.Store(&fault)
	return f
}

func (f *fixture) fault(methods []string) (before, after bool) {
	if slices.Contains(methods, "eth_sendRawTransaction") && f.lose.CompareAndSwap(true, false) {
		return false, true
	}
	return f.silent.Load(), false
}

func (f *fixture) Features() railtest.Features {
	courses := []railtest.Course{railtest.Settles, railtest.Rejected, railtest.RefusedForNow, railtest.AnswerLost, railtest.Silent}
	return railtest.Features{Currencies: []money.Currency{money.USDC}, Payouts: courses, Refunds: courses,
		Collections: []railtest.Course{railtest.Rejected},
		CountsMoney: true, Crashes: true, Reports: true, PartnerIDs: true, Codes: true, Stops: true}
}

func (f *fixture) Open(context.Context) (ports.Rail, error) { return f.rail(), nil }

// effects lets the first ones happen and no later one.
type effects struct {
	mu      sync.Mutex
	left    int
	crashed bool
}

func (e *effects) next() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left--; e.left < 0 {
		e.crashed = true
	}
	return !e.crashed
}

func (e *effects) hasCrashed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.crashed
}

func (f *fixture) OpenCrashing(_ context.Context, n int) (ports.Rail, func() bool, error) {
	e := &effects{left: n}
	own := newProxy(f.t, f.chain.URL)
	fault := func(methods []string) (bool, bool) {
		if slices.Contains(methods, "eth_sendRawTransaction") {
			return !e.next(), false
		}
		return e.hasCrashed(), false
	}
	own.fault.Store(&fault)
	return f.openAt(crashingPool{f.db.Pool(), func() (before, after bool) { return !e.next(), false }}, own.url), e.hasCrashed, nil
}

func (f *fixture) Now() time.Time { return f.clock.Now() }

// set sets the world up for a course.
func (f *fixture) set(c railtest.Course) {
	f.silent.Store(c == railtest.Silent)
	f.lose.Store(c == railtest.AnswerLost)
	paused := int64(0)
	if c == railtest.RefusedForNow {
		paused = 1
	}
	f.usdc.SetPaused(paused)
}

// beneficiary returns the account that a payment goes to.
func (f *fixture) beneficiary(id uuid.UUID, c railtest.Course) account.External {
	switch c {
	case railtest.Settles:
	case railtest.Rejected:
		return external(f.blocked)
	default:
		f.set(c)
	}
	hash := eth.Keccak256(id[:])
	f.paid[id] = eth.FormatAddress(eth.Address(hash[:20]))
	return external(f.paid[id])
}

func paymentID(kind string, n int) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "%s %d", kind, n))
}

func usdc(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USDC} }

func (f *fixture) Payout(n int, c railtest.Course) ports.Payout {
	id := paymentID("payout", n)
	p := ports.Payout{Account: f.beneficiary(id, c), Transaction: transaction.Transaction{Platform: f.platform, DestinationRail: "BASE",
		State:   transaction.State{Status: transaction.Processing, Stage: transaction.Converted},
		Pricing: transaction.Pricing{Received: usdc(100 + int64(n))}, UpdatedAt: noon}}
	p.Transaction.ID.SetUUID(id)
	return p
}

func (f *fixture) Collection(n int, _ railtest.Course) ports.Collection {
	id := paymentID("collection", n)
	c := ports.Collection{Account: external(f.blocked), Transaction: transaction.Transaction{Platform: f.platform,
		Pricing: transaction.Pricing{Sent: usdc(100)}}}
	c.Transaction.ID.SetUUID(id)
	return c
}

func (f *fixture) Refund(n int, c railtest.Course) ports.Refund {
	r := ports.Refund{ID: paymentID("refund", n), Platform: f.platform, Rail: "BASE", Reference: "REF", Amount: usdc(1000 + int64(n))}
	payer := f.beneficiary(r.ID, c)
	r.Original.Payer = &payer
	return r
}

func (f *fixture) Run(ctx context.Context) error {
	f.clock.Advance(time.Minute)
	f.chain.Mine(1)
	if f.reports == railtest.Twice || f.reports == railtest.Reversed { // as if no cursor had been stored
		f.cursor = ""
	}
	report, err := f.rail().Poll(ctx, f.cursor)
	if f.silent.Load() {
		return nil
	}
	f.cursor = report.Cursor
	return err
}

func (f *fixture) SetReports(r railtest.Reports) { f.reports = r }

func (f *fixture) Relent(context.Context) error {
	f.set(railtest.Settles)
	return nil
}

func (f *fixture) TakeBack(context.Context, uuid.UUID) error {
	return errors.New("nobody returns what is on a chain")
}

// Moved returns the transfers of the token to the beneficiary.
func (f *fixture) Moved(_ context.Context, id uuid.UUID) (moved []money.Amount, err error) {
	address, ok := f.paid[id]
	if !ok {
		return nil, nil
	}
	var events []struct{ Data string }
	err = f.chain.Try("eth_getLogs", &events, map[string]any{"fromBlock": "0x0", "toBlock": "latest", "address": f.usdc.Address,
		"topics": []any{eth.FormatHash(eth.TransferTopic), nil, "0x" + hexOf(devnet.AddressWord(address))}})
	for _, e := range events {
		amount, ok := new(big.Int).SetString(e.Data[2:], 16)
		if !ok {
			return nil, fmt.Errorf("%s is no amount", e.Data)
		}
		moved = append(moved, usdc(amount.Int64()))
	}
	return moved, err
}

func (f *fixture) OriginalOf(context.Context, uuid.UUID) (string, error) { return "", nil }

func (f *fixture) Close() error { return nil }
