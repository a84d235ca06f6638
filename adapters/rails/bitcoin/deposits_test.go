package bitcoin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/bitcoin/devnet"
	"causeway/core/ident"
	"causeway/ports"
)

// describeReceipts returns what was received, by reference and amount.
func describeReceipts(receipts []ports.RailReceipt) (texts []string) {
	for _, r := range receipts {
		texts = append(texts, fmt.Sprintf("%s %d", r.Reference, r.Amount.Minor))
	}
	slices.Sort(texts)
	return texts
}

func (w *world) wantReceipts(t *testing.T, report ports.RailReport, want ...string) {
	t.Helper()
	if got := describeReceipts(report.Receipts); !slices.Equal(got, want) {
		t.Fatalf("received %q, want %q", got, want)
	}
}

func TestPoll_CreditsDepositsWithTheirConfirmations(t *testing.T) {
	t.Parallel()
	// Every output to an address that was shown is credited once, with its third confirmation: several in one transaction,
	// and an address that is paid twice. What the wallet receives at other addresses has no reference. A piece that is read
	// again is the same.
	w := newWorld(t, 0)
	ana, ben := w.show("ANA"), w.show("BEN")
	other := w.hot.Address()
	first := w.payer.Pay(t, "10", map[string]int64{ana: 50_000, ben: 70_000, other: 90_000})
	w.node.Mine(t, 1)
	w.payer.Pay(t, "10", map[string]int64{ana: 60_000})
	w.wantReceipts(t, w.poll())
	w.node.Mine(t, 1)
	w.wantReceipts(t, w.poll())
	w.node.Mine(t, 1)

	begin := w.cursor
	credited := w.poll()
	w.wantReceipts(t, credited, " 90000", "ANA 50000", "BEN 70000")
	for _, r := range credited.Receipts {
		if !strings.HasPrefix(r.PartnerID, first+":") || r.TransactionHash != first ||
			r.Rail != "BITCOIN" || r.Platform == w.platform != (r.Reference != "") ||
			time.Since(r.At).Abs() > 24*time.Hour {
			t.Errorf("credited %+v", r)
		}
	}
	if again, err := w.poller.Poll(t.Context(), begin); err != nil || fmt.Sprint(again.Receipts) != fmt.Sprint(credited.Receipts) ||
		again.Cursor != w.cursor {
		t.Errorf("read again: %+v, %v", again, err)
	}
	w.node.Mine(t, 1)
	w.wantReceipts(t, w.poll(), "ANA 60000")
	w.node.Mine(t, 3)
	w.wantReceipts(t, w.poll())
	if _, err := w.poller.Poll(t.Context(), "x"); err == nil {
		t.Error("a cursor that is none was accepted")
	}
}

func TestPoll_FindsPaymentsBeforeTheAddressIsWatched(t *testing.T) {
	t.Parallel()
	// The service did not run when an address was paid, and the wallet does not look back by itself: it is let read the
	// blocks since the address was shown.
	w := newWorld(t, 0)
	w.hot.ImportReads = false
	w.poll()
	address := w.show("LATE")
	w.payer.Pay(t, "10", map[string]int64{address: 50_000})
	w.node.Mine(t, 20)
	// The address was shown two hours before the last block, by the clock of the chain.
	w.references.list[0].CreatedAt = w.clock.Now().Add(-2 * time.Hour)
	w.wantReceipts(t, w.poll(), "LATE 50000")
}

func TestPoll_WalletThatWasLostIsReadAgain(t *testing.T) {
	t.Parallel()
	// The wallet was made anew. Within an hour its addresses are imported again, and what was paid to them meanwhile is
	// found; what was credited before is not credited again.
	w := newWorld(t, 0)
	ana := w.show("ANA")
	w.payer.Pay(t, "10", map[string]int64{ana: 50_000})
	w.node.Mine(t, 3)
	w.wantReceipts(t, w.poll(), "ANA 50000")

	w.hot.Mu.Lock()
	fresh := devnet.NewWallet(t, "fresh")
	w.hot.Keys, w.hot.Labels, w.hot.Txs, w.hot.Order = fresh.Keys, fresh.Labels, fresh.Txs, nil
	w.hot.Mu.Unlock()
	w.payer.Pay(t, "10", map[string]int64{ana: 60_000})
	w.node.Mine(t, 3)
	w.wantReceipts(t, w.poll())
	w.clock.Advance(time.Hour)

	w.wantReceipts(t, w.poll(), "ANA 60000")
}

func TestPoll_ReplacedPaymentIsNeverCredited(t *testing.T) {
	t.Parallel()
	// The payer replaces a payment that waits by one to somebody else (BIP 125).
	w := newWorld(t, 0)
	ana := w.show("ANA")
	w.poll()
	txid := w.payer.Pay(t, "5", map[string]int64{ana: 50_000})
	w.poll()
	w.payer.Spend(t, "50", w.coinsOf(t, txid), map[string]int64{w.payer.Address(): 50_000})
	w.node.Mine(t, 6)
	w.wantReceipts(t, w.poll())
}

// coinsOf returns the coins that a transaction of the payer spends.
func (w *world) coinsOf(t *testing.T, txid string) (coins []bitcoin.Output) {
	t.Helper()
	w.payer.Mu.Lock()
	defer w.payer.Mu.Unlock()
	for _, i := range w.payer.Txs[txid].Inputs {
		coins = append(coins, bitcoin.Output{TxID: i.TxID, Vout: int64(i.Vout)})
	}
	return coins
}

func TestPoll_ReplacedBlocksReverseDeposits(t *testing.T) {
	t.Parallel()
	// Blocks are replaced. A deposit that is in the new ones stays as it is; one whose coins were spent by another
	// transaction is reversed, and is another receipt when the former blocks return.
	w := newWorld(t, 0)
	ana, ben := w.show("ANA"), w.show("BEN")
	w.poll()
	lost := w.payer.Pay(t, "5", map[string]int64{ana: 50_000})
	block := w.node.Mine(t, 1)[0]
	w.payer.Pay(t, "5", map[string]int64{ben: 70_000})
	w.node.Mine(t, 3)
	before := w.poll()
	w.wantReceipts(t, before, "ANA 50000", "BEN 70000")

	w.node.ReplaceFrom(t, block)
	w.payer.Sync(t.Context())
	// While the chain is shorter than it was, it is not known what will be in it.
	if r := w.poll(); len(r.Receipts)+len(r.Reversals) > 0 {
		t.Fatalf("reported %+v", r)
	}
	w.payer.Spend(t, "50", w.coinsOf(t, lost), map[string]int64{w.payer.Address(): 50_000})
	replaced := w.node.Mine(t, 6)[0]
	after := w.poll()
	w.wantReceipts(t, after)
	if len(after.Reversals) == 0 || len(after.Reversals) > 2 {
		t.Fatalf("reversed %+v", after.Reversals)
	}
	for _, r := range after.Reversals {
		if !strings.HasPrefix(r.Receipt, lost) && w.inChain(t, r.Receipt) || r.PartnerID == r.Receipt || r.Platform != w.platform ||
			r.Rail != "BITCOIN" {
			t.Errorf("reversed %+v", r)
		}
	}

	w.node.ReplaceFrom(t, replaced)
	w.node.Must(t, nil, "reconsiderblock", block)
	w.node.Mine(t, 4)
	returned := w.poll()
	if len(returned.Reversals) > 0 || len(returned.Receipts) != len(after.Reversals) {
		t.Fatalf("returned %+v", returned)
	}
	for _, r := range returned.Receipts {
		if !strings.HasSuffix(r.PartnerID, "#2") {
			t.Errorf("the receipt %q that returned has the id of the first one", r.PartnerID)
		}
	}
	w.node.Mine(t, 3)
	if r := w.poll(); len(r.Receipts)+len(r.Reversals) > 0 {
		t.Errorf("later %+v", r)
	}
}

// inChain reports whether the transaction of a receipt is in the chain.
func (w *world) inChain(t *testing.T, receipt string) bool {
	t.Helper()
	w.hot.Mu.Lock()
	defer w.hot.Mu.Unlock()
	txid, _, _ := strings.Cut(receipt, ":")
	return w.hot.Txs[txid] != nil && w.hot.Txs[txid].Height > 0
}

func TestPoll_DepositInTheNewBlocksStays(t *testing.T) {
	t.Parallel()
	// Blocks are replaced by others with the same payment: nothing is reported.
	w := newWorld(t, 0)
	ana := w.show("ANA")
	w.payer.Pay(t, "5", map[string]int64{ana: 50_000})
	block := w.node.Mine(t, 1)[0]
	w.node.Mine(t, 2)
	w.wantReceipts(t, w.poll(), "ANA 50000")

	w.node.ReplaceFrom(t, block)
	w.node.Mine(t, 1)
	if r := w.poll(); len(r.Receipts)+len(r.Reversals) > 0 {
		t.Errorf("reported %+v", r)
	}
	w.node.Mine(t, 9)
	if r := w.poll(); len(r.Receipts)+len(r.Reversals) > 0 {
		t.Errorf("reported %+v", r)
	}
}

func TestPoll_RewardsAreCreditedWhenMature(t *testing.T) {
	t.Parallel()
	// The wallet mines. A reward is credited when it can be spent, a hundred blocks later.
	w := newWorld(t, 0)
	w.hot.Mu.Lock()
	w.hot.Keys, w.hot.Labels = w.payer.Keys, map[string]string{}
	for script := range w.payer.Keys {
		w.hot.Labels[script] = ""
	}
	w.hot.Hashes = nil // it reads the chain from the beginning
	w.hot.Mu.Unlock()
	mature := w.poll()
	if len(mature.Receipts) != firstBlocksRead-100 {
		t.Fatalf("credited %d rewards, want %d", len(mature.Receipts), firstBlocksRead-100)
	}
	w.node.Mine(t, 2)
	if next := w.poll(); len(next.Receipts) != 2 || next.Receipts[0].Reference != "" || next.Receipts[0].Platform != (ident.Platform{}) {
		t.Errorf("credited %+v", next.Receipts)
	}
}

// firstBlocksRead is how many blocks a new connection reads.
const firstBlocksRead = 144

func TestPoll_ThousandDepositsInABlock(t *testing.T) {
	t.Parallel()
	// They are reported at once, each with its reference, and read again in pieces they are the same.
	const accounts, payments = 50, 30
	const deposits = accounts * payments
	w := newWorld(t, 0)
	addresses := make([]string, accounts)
	for i := range addresses {
		addresses[i] = w.show(fmt.Sprintf("R%04d", i))
	}
	w.poll()
	for n := range payments {
		amounts := map[string]int64{}
		for i, address := range addresses {
			amounts[address] = 10_000 + int64(n*accounts+i)
		}
		w.payer.Pay(t, "2", amounts)
	}
	w.node.Mine(t, 3)
	began := time.Now()
	report := w.poll()
	t.Logf("%d deposits in one block were read in %s", deposits, time.Since(began))

	seen := map[string]bool{}
	for _, r := range report.Receipts {
		if seen[r.PartnerID] || r.Reference != fmt.Sprintf("R%04d", (r.Amount.Minor-10_000)%accounts) {
			t.Fatalf("credited %+v", r)
		}
		seen[r.PartnerID] = true
	}
	if len(seen) != deposits {
		t.Errorf("%d deposits, want %d", len(seen), deposits)
	}
}

func TestPoll_ErrorsNeverHaveKeys(t *testing.T) {
	t.Parallel()
	// The wallet refuses to import an address, and its error has the private key of it.
	w := newWorld(t, 0)
	w.hot.RefuseImports = true
	w.show("ANA")
	_, err := w.pollOnce(t.Context())
	if err == nil || strings.Contains(err.Error(), "wpkh(") || strings.Contains(err.Error(), "hunter2") {
		t.Fatalf("got %v", err)
	}
	w.hot.RefuseImports = false
	w.poll()
}
