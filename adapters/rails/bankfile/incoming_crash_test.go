package bankfile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/ports"
)

// steppedReads is the transport as a process that reads sees it. A copy that ends halfway is the beginning of the file.
type steppedReads struct{ steppedTransport }

func (s steppedReads) ReadFrom(ctx context.Context, name string, offset int64, to io.Writer, maxBytes int64) error {
	return s.p.copy(func() error {
		if dead, _ := s.p.reached(); dead && s.p.how == halfway {
			to = &shortWriter{to, 500}
		}
		return s.Transport.ReadFrom(ctx, name, offset, to, maxBytes)
	})
}

type shortWriter struct {
	to   io.Writer
	left int
}

func (w *shortWriter) Write(data []byte) (int, error) {
	if len(data) > w.left {
		n, err := w.to.Write(data[:w.left])
		w.left -= n
		return n, errors.Join(err, errKilled)
	}
	w.left -= len(data)
	return w.to.Write(data)
}

// bankFiles are files of every kind, about the payouts of an inbox.
func (i *inbox) bankFiles() map[string]string {
	returned := `<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`
	return map[string]string{
		"1-status.xml": statusReport(i.message, "ACSP", transfer(i.id(0), "RJCT AC01"), transfer(i.id(1), "ACSC"), transfer("OTHER", "ACSC")),
		"2-camt.xml": notification(
			entry("CRDT", "5.00", "B1", "", payment("E-1", memo("one"))), entry("CRDT", "6.00", "", "", payment("E-2", memo("two"))),
			entry("CRDT", "9.81", "B3", "", payment(i.id(1), returned)), entry("CRDT", "1.00", "B4", "", payment("OTHER", returned)),
			entry("DBIT", "5.00", "B5", "<RvslInd>", payment("E-1")), entry("DBIT", "7.00", "B6", "<RvslInd>", payment("E-9")),
			entry("DBIT", "0.50", "B7", `<BkTxCd><Domn><Fmly><SubFmlyCd>CHRG</SubFmlyCd></Fmly></Domn></BkTxCd>`)),
		"3-statement.xml": statement(
			`<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">9.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-03-10</Dt></Dt></Bal>`),
		"4-bad.xml":    notification(credit)[:400],
		"5-status.xml": statusReport(i.message, "ACSC"),
	}
}

// summary returns what was reported of the money, each once, and what became of the payouts.
func (i *inbox) summary() string {
	seen := map[string]bool{}
	for _, r := range i.got.Receipts {
		seen["receipt "+r.PartnerID+" "+r.Amount.String()] = true
	}
	for _, r := range i.got.Reversals {
		seen["reversal "+r.PartnerID+" of "+r.Receipt] = true
	}
	for _, f := range i.got.Fees {
		seen["fee "+i.normal(f.PartnerID)+" "+f.Amount.String()] = true
	}
	for _, s := range i.got.Statements {
		seen["statement "+s.Name] = true
		for _, b := range s.Balances {
			seen["balance "+b.Amount.String()] = true
		}
	}
	for notice := range strings.SplitSeq(i.notices(), ", ") {
		seen["notice "+notice] = true
	}
	return i.states() + "\n" + strings.Join(slices.Sorted(maps.Keys(seen)), "\n") + "\nleft " + i.left("in")
}

func TestIncoming_NothingLostAfterACrashAtAnyStep(t *testing.T) {
	t.Parallel()
	// A process ends at each of its steps in every way, before or after its caller has stored what it returned, and another
	// one continues: everything is reported at least once with the same ids, and every status is applied.
	d := openDatabase(t)
	number := 0
	newCase := func() *inbox {
		number++
		i := d.inbox(t, fmt.Sprintf("bank-%d", number), nil)
		i.send(3)
		i.cursor = ""
		for name, content := range i.bankFiles() {
			i.files = int(name[0])
			i.put(name, content)
		}
		i.got = ports.RailReport{}
		return i
	}
	var want string
	var copies []int
	steps := 0
	for _, how := range []ending{"never", before, halfway, after, panics} {
		for endsAt := 0; how != "never" && endsAt < steps || endsAt == 0; endsAt++ {
			if how == halfway && !slices.Contains(copies, endsAt) {
				continue
			}
			i := newCase()
			p := &process{endsAt: endsAt, how: how}
			if how == "never" {
				p.endsAt = -1
			}
			i.crash(p)
			if how == "never" {
				steps, copies = p.steps, p.copies
				want = i.normal(i.summary())
				continue
			}
			if err := i.a.Close(); err != nil {
				t.Fatal(err)
			}
			i.a = d.open(t, i.connection, d.Store, folderTransport(t, i.dir))
			d.clock.Advance(5 * time.Minute) // past the lease
			i.poll()
			d.clock.Advance(5 * time.Minute)
			i.poll()
			if got := i.normal(i.summary()); got != want {
				t.Fatalf("ended %s %d of %d:\n%s\nwant\n%s", how, endsAt, steps, got, want)
			}
		}
	}
	if steps < 30 || len(copies) < 5 {
		t.Errorf("%d steps, with the copies %v, and\n%s", steps, copies, want)
	}
	t.Logf("%d steps, and\n%s", steps, want)
}

// normal replaces what differs between inboxes.
func (i *inbox) normal(text string) string {
	return strings.NewReplacer(i.message, "{message}", i.id(0), "{0}", i.id(1), "{1}", i.id(2), "{2}").Replace(text)
}

// crash polls with a process until it ends or there is no more. Storing the cursor is a step too.
func (i *inbox) crash(p *process) {
	ctx, cancel := context.WithCancel(i.t.Context())
	defer cancel()
	p.cancel = cancel
	if err := i.a.Close(); err != nil {
		i.t.Fatal(err)
	}
	i.a = i.open(i.t, i.connection, i.stepped(p), steppedReads{steppedTransport{folderTransport(i.t, i.dir), p}})
	defer func() {
		if recovered := recover(); recovered != nil && recovered != any(errKilled) {
			panic(recovered)
		}
	}()
	for range 100 {
		report, err := i.a.Poll(ctx, i.cursor)
		if dead, _ := p.reached(); dead {
			return
		}
		if err != nil {
			i.t.Fatal(err)
		}
		if err := p.step(func() error { i.add(report); return nil }); err != nil {
			return
		}
		if p.step(func() error { i.cursor = report.Cursor; return nil }) != nil || !report.More {
			return
		}
	}
}

func TestIncoming_OrderOfFilesDoesNotMatter(t *testing.T) {
	t.Parallel()
	// Statuses, bookings and returns that do not contradict each other make the same of the orders in whichever order and
	// however often they come, whichever process reads them.
	d := openDatabase(t)
	number := 0
	rapid.Check(t, func(rt *rapid.T) {
		number++
		i := d.inbox(t, fmt.Sprintf("bank-%d", number),
			with("settlesOn", rapid.SampledFrom([]string{"STATUS", "BOOKING"}).Draw(rt, "settles on")))
		i.send(4)
		returned := `<RtrInf><Rsn><Cd>AC06</Cd></Rsn></RtrInf>`
		contents := []string{
			statusReport(i.message, "RCVD"),
			statusReport(i.message, "ACCP"),
			statusReport(i.message, "PART", transfer(i.id(0), "RJCT AC01"), transfer(i.id(1), "ACSP"), transfer(i.id(2), "ACSP")),
			statusReport(i.message, "", transfer(i.id(1), "ACSC"), transfer(i.id(2), "ACSC")),
			notification(entry("DBIT", "10.01", "B1", "", payment(i.id(1))), entry("DBIT", "10.02", "B2", "", payment(i.id(2)))),
			notification(entry("CRDT", "10.02", "B3", "", payment(i.id(2), returned))),
		}
		files := rapid.SliceOfN(rapid.IntRange(0, len(contents)-1), 0, 6).Draw(rt, "again")
		files = append(files, rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(rt, "order")...)
		for n, file := range files {
			i.put(fmt.Sprintf("%d.xml", n), contents[file]+strings.Repeat("\n", n)) // another file for the store
			if rapid.Bool().Draw(rt, "polls") {
				i.poll()
			}
			if rapid.Bool().Draw(rt, "restarts") {
				if err := i.a.Close(); err != nil {
					rt.Fatal(err)
				}
				i.a = d.open(t, i.connection, d.Store, folderTransport(t, i.dir))
			}
		}
		i.poll()

		if got := i.states(); got != "REJECTED AC01, SETTLED, RETURNED AC06, ACCEPTED" {
			rt.Errorf("%v: %s", files, got)
		}
		if noticed, left := i.notices(), i.left("in"); noticed != "" || left != "" {
			rt.Errorf("%v: %s; left %s", files, noticed, left)
		}
		if err := os.RemoveAll(filepath.Join(i.dir, "archive")); err != nil {
			rt.Fatal(err)
		}
	})
}
