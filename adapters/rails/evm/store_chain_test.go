package evm_test

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
	"causeway/ports/portstest"
)

const baseChain = "base-usdc"

// storeEnv is a store in a database with a platform, without a chain.
type storeEnv struct {
	*evm.Store
	*env
}

func newStoreEnv(t testing.TB) *storeEnv {
	t.Helper()
	e := &env{t: t, clock: portstest.NewFakeClock(noon), ids: ids.New()}
	e.openDatabase()
	return &storeEnv{evm.NewStore(e.db.Storage()), e}
}

var baseWallet = eth.Address{0xba, 0x5e}

// evmBlock returns a block with a hash for its branch.
func evmBlock(number uint64, branch byte) evm.Block {
	b := evm.Block{Number: number, Hash: eth.Hash{branch}}
	binary.BigEndian.PutUint64(b.Hash[24:], number)
	return b
}

// openEVM opens a chain that was read up to the block 100.
func (c *storeEnv) openEVM(t testing.TB, connection string) evm.Block {
	t.Helper()
	first := evmBlock(100, 1)
	state, err := c.OpenChain(t.Context(), evm.Chain{Connection: connection, ChainID: 8453, Wallet: baseWallet, Position: first.Number,
		PositionHash: first.Hash})
	if err != nil || state.Position != first.Number {
		t.Fatalf("%+v, %v", state, err)
	}
	return first
}

func (c *storeEnv) advanceEVM(t testing.TB, a evm.Advance) {
	t.Helper()
	a.Connection = baseChain
	if a.At.IsZero() {
		a.At = noon
	}
	if ok, err := c.Advance(t.Context(), a); err != nil || !ok {
		t.Fatalf("advanced %t, %v", ok, err)
	}
}

// evmDeposit returns a deposit of an amount at an address.
func (c *storeEnv) evmDeposit(n byte, block evm.Block, amount int64) evm.Deposit {
	d := evm.Deposit{PartnerID: fmt.Sprintf("0x%02x:0", n), Transaction: eth.Hash{n}, Block: block, At: noon, Currency: money.USDC,
		Amount: big.NewInt(amount), Payer: eth.Address{0xfe, n}}
	d.Platform, d.Reference, d.Address = c.platform, fmt.Sprintf("FUND-%d", n), eth.Address{n}
	return d
}

func (c *storeEnv) evmReceived(d evm.Deposit) evm.Event {
	return evm.Event{Kind: evm.Received, Platform: d.Platform, PartnerID: d.PartnerID, Reference: d.Reference,
		Amount: money.Amount{Minor: d.Amount.Int64(), Currency: d.Currency}, At: noon}
}

func TestStore_OneProcessAdvancesIt(t *testing.T) {
	t.Parallel()
	// Eight processes have read the same range: one stores it, and the others change nothing. One that comes later with
	// what it read before changes nothing either, nor does one of another branch.
	c := newStoreEnv(t)
	from := c.openEVM(t, baseChain)
	to := evmBlock(110, 1)
	d := c.evmDeposit(1, to, 500)
	a := evm.Advance{Connection: baseChain, From: from, To: to, Deposits: []evm.Deposit{d},
		Events: []evm.Event{c.evmReceived(d)}, At: noon}
	var advanced atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if ok, err := c.Advance(t.Context(), a); err != nil {
				t.Error(err)
			} else if ok {
				advanced.Add(1)
			}
		})
	}
	group.Wait()
	a.From = evmBlock(110, 2)
	if ok, err := c.Advance(t.Context(), a); ok || err != nil || advanced.Load() != 1 {
		t.Errorf("%d processes have advanced it, and one of another branch %t, %v", advanced.Load(), ok, err)
	}
	events, err := c.Events(t.Context(), baseChain, 0, 10)
	if err != nil || len(events) != 1 || events[0].Number != 1 || events[0].Amount.Minor != 500 || events[0].Reference != "FUND-1" {
		t.Errorf("%+v, %v", events, err)
	}
	if state, found, err := c.ChainOf(t.Context(), baseChain); err != nil || !found || state.Position != 110 ||
		state.PositionHash != to.Hash || state.ChainID != 8453 || state.Wallet != baseWallet {
		t.Errorf("%+v, %t, %v", state, found, err)
	}
	if _, found, err := c.ChainOf(t.Context(), "other"); found || err != nil {
		t.Errorf("another connection: %t, %v", found, err)
	}
}

func TestStore_EventsHaveNoGaps(t *testing.T) {
	t.Parallel()
	// Blocks and transactions bring events at the same time. A reader of one event has read every one with a lower
	// number.
	c := newStoreEnv(t)
	from := c.openEVM(t, baseChain)
	const transactions = 30
	var group sync.WaitGroup
	group.Go(func() {
		for n := range uint64(transactions) {
			to := evmBlock(101+n, 1)
			d := c.evmDeposit(byte(n), to, 5)
			c.advanceEVM(t, evm.Advance{From: from, To: to, Deposits: []evm.Deposit{d}, Events: []evm.Event{c.evmReceived(d)}})
			from = to
		}
	})
	for n := range uint64(transactions) {
		group.Go(func() {
			stored := c.addEVM(t, c.evmTransaction(n))
			if ok, err := c.Conclude(t.Context(), stored, evm.Conclusion{State: evm.Confirmed, Hash: stored.Attempts[0].Hash,
				Block: evmBlock(90, 1), Fee: big.NewInt(3_000_000_000), Native: money.ETH, Changed: true, At: noon}); err != nil || !ok {
				t.Errorf("%t, %v", ok, err)
			}
		})
	}
	seen := make(chan []int64)
	go func() {
		var numbers []int64
		for len(numbers) < 3*transactions && t.Context().Err() == nil {
			after := int64(0)
			if len(numbers) > 0 {
				after = numbers[len(numbers)-1]
			}
			events, err := c.Events(t.Context(), baseChain, after, 7)
			if err != nil {
				t.Error(err)
				break
			}
			for _, e := range events {
				numbers = append(numbers, e.Number)
			}
		}
		seen <- numbers
	}()
	group.Wait()
	for i, n := range <-seen {
		if n != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, n)
		}
	}
}

func TestStore_TakesBackABranch(t *testing.T) {
	t.Parallel()
	// The chain goes back to a block: what was received after it is taken back once, later blocks are forgotten, and the
	// same transfer in another block is another deposit.
	c := newStoreEnv(t)
	from := c.openEVM(t, baseChain)
	kept, lost := c.evmDeposit(1, evmBlock(105, 1), 500), c.evmDeposit(2, evmBlock(115, 1), 700)
	c.advanceEVM(t, evm.Advance{From: from, To: evmBlock(110, 1), Deposits: []evm.Deposit{kept}})
	c.advanceEVM(t, evm.Advance{From: evmBlock(110, 1), To: evmBlock(120, 1), Deposits: []evm.Deposit{lost}})
	after, err := c.DepositsAfter(t.Context(), baseChain, 110, 10)
	if err != nil || len(after) != 1 || after[0].PartnerID != lost.PartnerID || after[0].Amount.Int64() != 700 ||
		after[0].Payer != lost.Payer {
		t.Fatalf("%+v, %v", after, err)
	}
	c.advanceEVM(t, evm.Advance{From: evmBlock(120, 1), To: evmBlock(110, 1), Reversed: []evm.Deposit{lost, lost}})
	again := lost
	again.PartnerID, again.Block = lost.PartnerID+"#2", evmBlock(112, 2)
	c.advanceEVM(t, evm.Advance{From: evmBlock(110, 1), To: evmBlock(112, 2), Deposits: []evm.Deposit{again}})

	blocks, err := c.Blocks(t.Context(), baseChain)
	if want := []evm.Block{evmBlock(112, 2), evmBlock(110, 1), from}; err != nil || !slices.Equal(blocks, want) {
		t.Errorf("blocks %+v, %v", blocks, err)
	}
	of, err := c.DepositsOf(t.Context(), baseChain, []eth.Hash{lost.Transaction})
	if err != nil || len(of) != 2 || of[0].Reversed == of[1].Reversed {
		t.Errorf("deposits %+v, %v", of, err)
	}
	holdings, err := c.Holdings(t.Context(), baseChain, evm.Holding{}, 10)
	if err != nil || len(holdings) != 2 || holdings[0].Received.Int64() != 500 || holdings[1].Received.Int64() != 700 {
		t.Errorf("holdings %+v, %v", holdings, err)
	}
}

func TestStoreHoldings_AreClaimedOnceUntilTheyChange(t *testing.T) {
	t.Parallel()
	// Two processes that look for addresses to sweep get different ones. A claim ends with time, and when the holding
	// changes, also by nothing; what is below the threshold is never claimed.
	c := newStoreEnv(t)
	from := c.openEVM(t, baseChain)
	to := evmBlock(110, 1)
	c.advanceEVM(t, evm.Advance{From: from, To: to, Deposits: []evm.Deposit{c.evmDeposit(1, to, 500), c.evmDeposit(2, to, 500),
		c.evmDeposit(3, to, 499)}})
	claim := func(every time.Duration) (addresses []eth.Address) {
		holdings, err := c.ClaimHoldings(t.Context(), baseChain, money.USDC, big.NewInt(500), every, 1)
		if err != nil {
			t.Error(err)
		}
		for _, h := range holdings {
			addresses = append(addresses, h.Address)
		}
		return addresses
	}
	claims := make(chan []eth.Address, 8)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { claims <- claim(time.Minute) })
	}
	group.Wait()
	close(claims)
	got := map[eth.Address]int{}
	for addresses := range claims {
		for _, a := range addresses {
			got[a]++
		}
	}
	got[eth.Address{1}]-- // all processes together may have got each once
	got[eth.Address{2}]--
	for a, n := range got {
		if n > 0 {
			t.Errorf("%x was claimed %d times too often", a, n)
		}
	}
	for range 2 {
		claim(time.Minute)
	}
	if again := claim(time.Minute); len(again) != 0 {
		t.Errorf("claimed again: %x", again)
	}
	stored := c.addEVM(t, c.evmTransaction(0))
	conclusion := evm.Conclusion{State: evm.Confirmed, Hash: stored.Attempts[0].Hash, Block: to, Fee: new(big.Int),
		Native: money.ETH, At: noon,
		Holdings: []evm.Holding{{Address: eth.Address{2}, Currency: money.USDC, Received: new(big.Int), Sent: new(big.Int)}}}
	if ok, err := c.Conclude(t.Context(), stored, conclusion); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	if changed := claim(time.Minute); len(changed) != 1 || changed[0] != (eth.Address{2}) {
		t.Errorf("after a change: %x", changed)
	}
	c.clock.Advance(2 * time.Minute)
	if late := claim(time.Minute); len(late) != 1 {
		t.Errorf("after a while: %x", late)
	}
}

func TestStore_Retention(t *testing.T) {
	t.Parallel()
	// What grows is deleted when it is old: blocks, deposits, addresses of quotes and events. What an operator has to look
	// at, addresses of accounts, addresses that hold money, and transfers that no record has stay.
	c := newStoreEnv(t)
	from := c.openEVM(t, baseChain)
	conn := pgtest.Connect(t, c.url)
	oversized := c.evmDeposit(2, evmBlock(105, 1), 6)
	oversized.Oversized = true
	of := func(address byte, reference string) evm.DepositAddress {
		return evm.DepositAddress{PlatformReference: evm.PlatformReference{Platform: c.platform, Reference: reference},
			Address: eth.Address{address}}
	}
	if err := c.AddAddresses(t.Context(), baseChain, []evm.DepositAddress{of(1, "QUOTE-1"), of(3, "QUOTE-3"), of(4, "FUND-4")},
		nil); err != nil {
		t.Fatal(err)
	}
	c.advanceEVM(t, evm.Advance{From: from, To: evmBlock(110, 1),
		Deposits: []evm.Deposit{c.evmDeposit(1, evmBlock(105, 1), 5), oversized}})
	for _, statement := range []string{
		`INSERT INTO evm_blocks (connection, number, hash) SELECT '` + baseChain + `', n, sha256('') FROM generate_series(200, 1500) n`,
		`INSERT INTO evm_events (connection, number, kind, partner_id, receipt, reference, currency, amount, payer, at, memo, created_at)
			SELECT '` + baseChain + `', n, CASE n WHEN 1 THEN 'UNKNOWN' WHEN 2 THEN 'MOVED' ELSE 'FEE' END, '', '', '', '', 0, substr(sha256(''), 1, 20), now(), '', now() FROM generate_series(1, 10600) n`,
		`UPDATE evm_chains SET event_number = 10600`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	later := evmBlock(3_000_000, 1)
	c.advanceEVM(t, evm.Advance{From: evmBlock(110, 1), To: later, At: noon.Add(500 * 24 * time.Hour)})
	c.advanceEVM(t, evm.Advance{From: later, To: evmBlock(3_000_001, 1), At: noon.Add(500 * 24 * time.Hour)})
	if _, err := c.Events(t.Context(), baseChain, 10_600, 10); err != nil {
		t.Fatal(err)
	}

	blocks, err := c.Blocks(t.Context(), baseChain)
	if err != nil || len(blocks) != 1000 || blocks[0].Number != 3_000_001 {
		t.Errorf("%d blocks, %v", len(blocks), err)
	}
	deposits, err := c.DepositsAfter(t.Context(), baseChain, 0, 10)
	if err != nil || len(deposits) != 1 || !deposits[0].Oversized {
		t.Errorf("deposits %+v, %v", deposits, err)
	}
	if shown, err := c.OversizedDeposits(t.Context(), baseChain, 10); err != nil || len(shown) != 1 {
		t.Errorf("oversized %+v, %v", shown, err)
	}
	addresses, err := c.DepositAddresses(t.Context(), baseChain, []eth.Address{{1}, {3}, {4}})
	if err != nil || len(addresses) != 2 || addresses[eth.Address{1}].Reference != "QUOTE-1" ||
		addresses[eth.Address{4}].Reference != "FUND-4" {
		t.Errorf("addresses %+v, %v", addresses, err)
	}
	events, err := c.Events(t.Context(), baseChain, 0, 3)
	if err != nil || len(events) != 3 || events[0].Kind != evm.Unknown || events[1].Kind != evm.Moved || events[2].Number != 601 {
		t.Errorf("events from %+v, %v", events, err)
	}
}

func TestStoreAddresses_OneForEachReference(t *testing.T) {
	t.Parallel()
	// Processes that issue the same addresses at the same time store each once, and the position never goes back.
	c := newStoreEnv(t)
	c.openEVM(t, baseChain)
	var addresses []evm.DepositAddress
	for n := range byte(20) {
		addresses = append(addresses, evm.DepositAddress{PlatformReference: evm.PlatformReference{Platform: c.platform,
			Reference: fmt.Sprintf("FUND-%d", n)}, Address: eth.Address{n}})
	}
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if err := c.AddAddresses(t.Context(), baseChain, addresses,
				[]evm.ReferencePosition{{Platform: c.platform, Last: c.ids.New(noon)}}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if err := c.AddAddresses(t.Context(), baseChain, nil,
		[]evm.ReferencePosition{{Platform: c.platform, Last: uuid.UUID{1}}}); err != nil {
		t.Fatal(err)
	}
	found, err := c.DepositAddresses(t.Context(), baseChain, []eth.Address{{0}, {7}, {19}, {20}})
	if err != nil || len(found) != 3 || found[eth.Address{7}] != addresses[7] {
		t.Errorf("%+v, %v", found, err)
	}
	conn := pgtest.Connect(t, c.url)
	var last uuid.UUID
	if err := conn.QueryRow(t.Context(), `SELECT last FROM evm_reference_positions`).Scan(&last); err != nil || last == (uuid.UUID{1}) {
		t.Errorf("the position has gone back: %s, %v", last, err)
	}
}
