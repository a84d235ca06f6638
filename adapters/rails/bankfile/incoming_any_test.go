package bankfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/ports"
)

// unusable is what must be kept aside of a content: at one of its places, for its reason.
type unusable struct {
	places []string
	reason string
}

// anyFolder is an inbox whose bank puts any files down, and what they must lead to.
type anyFolder struct {
	*inbox
	odd      *oddFolder
	contents []string // what is put down again under other names
	n        int      // makes each thing another one

	want       []string          // states of the payouts
	messages   map[string]string // of the orders that the bank has taken
	receipts   map[string]string // amounts by the bank's id
	statements map[string]string // formats by content
	bad        map[string]*unusable
	stays      map[string]bool // names in the folder of the bank
}

const (
	maxAnyFile = 2 << 20
	maxKept    = 64 << 10 // of a file that is kept aside
)

func (d database) anyFolder(t testing.TB, name string) *anyFolder {
	f := &anyFolder{inbox: d.inbox(t, name, with("maxFileBytes", fmt.Sprint(maxAnyFile))), messages: map[string]string{},
		receipts: map[string]string{}, statements: map[string]string{}, bad: map[string]*unusable{}, stays: map[string]bool{}}
	f.odd = &oddFolder{dir: f.dir, vanishes: map[string]bool{}, shut: map[string]bool{}}
	f.restart()
	return f
}

// restart continues with another process.
func (f *anyFolder) restart() {
	f.t.Helper()
	if err := f.a.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.odd.Transport = folderTransport(f.t, f.dir)
	f.a = f.open(f.t, f.connection, f.Store, f.odd)
}

// name returns another name for a file.
func (f *anyFolder) name(t *rapid.T) string {
	f.n++
	return fmt.Sprintf(rapid.SampledFrom([]string{"%d.xml", "r%d", "kont\xf6 %d.txt", "zwei\nzeilen %d.xml", "überblick-%d.XML"}).Draw(t,
		"name"), f.n)
}

// put lets the bank put a file down, before or after others that are there.
func (f *anyFolder) put(t *rapid.T, content string) (name string) {
	name = f.name(t)
	path := filepath.Join(f.dir, "in", name)
	at := noon.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "minute")) * time.Minute)
	if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chtimes(path, at, at)); err != nil {
		t.Fatal(err)
	}
	return name
}

// putGood puts a file down that is used.
func (f *anyFolder) putGood(t *rapid.T, content string) {
	f.put(t, content)
	f.contents = append(f.contents, content)
}

func (f *anyFolder) putStatement(t *rapid.T, format, content string) {
	f.putGood(t, content)
	f.statements[content] = format
}

// putBad puts a file down that is kept aside.
func (f *anyFolder) putBad(t *rapid.T, content, reason string) {
	f.keepsAside(f.put(t, content), content, reason)
	f.contents = append(f.contents, content)
}

func (f *anyFolder) keepsAside(name, content, reason string) {
	if f.bad[content] == nil {
		f.bad[content] = &unusable{reason: reason}
	}
	f.bad[content].places = append(f.bad[content].places, "in/"+storedName(name))
	f.stays[name] = true
}

// storedName returns a name as operators see it.
func storedName(name string) string {
	if !utf8.ValidString(name) || strings.Contains(name, "\n") {
		return fmt.Sprintf("%+q", name)
	}
	return name
}

// credit returns a file with money received, which may have odd names, a long line and another encoding.
func (f *anyFolder) credit(t *rapid.T) string {
	f.n++
	id, amount := fmt.Sprintf("B%d", f.n), fmt.Sprintf("%d.00", f.n)
	memo := memo(rapid.SampledFrom([]string{"Rent", "Müller\tund Söhne\n", strings.Repeat("long ", 20_000), "\u202eevil"}).Draw(t, "memo"))
	content := notification(entry("CRDT", amount, id, "", payment("E", memo)))
	if latin, err := charmap.ISO8859_1.NewEncoder().String(content); err == nil && rapid.Bool().Draw(t, "latin") {
		content = strings.Replace(latin, "UTF-8", "ISO-8859-1", 1)
	}
	f.receipts[id] = amount + " EUR"
	return content
}

var anyFiles = map[string]func(f *anyFolder, t *rapid.T){
	"credit": func(f *anyFolder, t *rapid.T) { f.putGood(t, f.credit(t)) },
	"status": func(f *anyFolder, t *rapid.T) {
		if p := f.drawPayout(t, "IN_FILE"); p >= 0 {
			status := rapid.SampledFrom([]string{"ACSC", "RJCT AC04"}).Draw(t, "status")
			f.putGood(t, statusReport(f.messages[f.id(p)], "", transfer(f.id(p), status)))
			f.want[p] = map[string]string{"ACSC": "SETTLED?", "RJCT AC04": "REJECTED AC04"}[status]
		}
	},
	"return": func(f *anyFolder, t *rapid.T) {
		if p := f.drawPayout(t, "SETTLED"); p >= 0 {
			f.n++
			details := payment(f.id(p), `<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`)
			f.putGood(t, notification(entry("CRDT", fmt.Sprintf("10.%02d", p), fmt.Sprintf("B%d", f.n), "", details)))
			f.want[p] = "RETURNED AC04"
		}
	},
	"camt.053": func(f *anyFolder, t *rapid.T) {
		f.n++
		f.putStatement(t, "CAMT053", statement(entry("CRDT", "1.00", fmt.Sprintf("S%d", f.n), "")))
	},
	"MT940": func(f *anyFolder, t *rapid.T) {
		f.n++
		const mt940 = ":20:STARTUMS\r\n:25:DE89370400440532013000\r\n:28C:%d\r\n:60F:C260309EUR1,00\r\n:86:M\xfcller\r\n:62F:C260310EUR1,00\r\n-\r\n"
		f.putStatement(t, "MT940", fmt.Sprintf(mt940, f.n))
	},
	"a file again": func(f *anyFolder, t *rapid.T) {
		if len(f.contents) == 0 {
			return
		}
		content := rapid.SampledFrom(f.contents).Draw(t, "again")
		name := f.put(t, content)
		if bad := f.bad[content]; bad != nil {
			f.keepsAside(name, content, bad.reason)
		}
	},
	"binary": func(f *anyFolder, t *rapid.T) {
		start := rapid.SampledFrom([]string{"\x89PNG\r\n\x1a\n", "\x00\xff", "PK\x03\x04", "%PDF-1.7\n", "\xff\xfe\x00"}).Draw(t, "start")
		f.n++
		f.putBad(t, fmt.Sprintf("%s%d%s", start, f.n, rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "bytes")), "not valid XML")
	},
	"truncated": func(f *anyFolder, t *rapid.T) {
		f.n++
		content := notification(entry("CRDT", "1.00", fmt.Sprintf("T%d", f.n), "", payment("E")))
		f.putBad(t, content[:rapid.IntRange(strings.Index(content, "<Ntry>"), len(content)-1).Draw(t, "end")], "truncated")
	},
	"empty": func(f *anyFolder, t *rapid.T) { f.putBad(t, "", "the file is empty") },
	"a huge line": func(f *anyFolder, t *rapid.T) {
		f.putBad(t, notification(entry("CRDT", "1.00", "B", "", payment("E", memo(strings.Repeat("x", 1<<20))))), "a text or tag has more than")
	},
	"another page": func(f *anyFolder, t *rapid.T) {
		f.putBad(t, "<html><body>Service unavailable</body></html>", "no message of ISO 20022")
	},
	"camt.052": func(f *anyFolder, t *rapid.T) {
		f.putBad(t, accountReport("52", "BkToCstmrAcctRpt", "Rpt", ourAccount, []string{entry("CRDT", "1.00", "B", "")}),
			"camt.052, which is not read")
	},
	"one bad entry": func(f *anyFolder, t *rapid.T) {
		f.n++
		f.putBad(t, notification(entry("CRDT", "1.00", fmt.Sprintf("T%d", f.n), ""), entry("CRDT", "1.005", "B", "")), "1.005")
	},
	"too large": func(f *anyFolder, t *rapid.T) {
		f.n++
		content := fmt.Sprintf("%d%s", f.n, strings.Repeat(" ", maxAnyFile))
		f.keepsAside(f.put(t, content), content, "maxFileBytes is")
	},
	"removed before it is read": func(f *anyFolder, t *rapid.T) {
		f.n++
		f.odd.vanishes["in/"+f.put(t, notification(entry("CRDT", "1.00", fmt.Sprintf("T%d", f.n), "")))] = true
	},
	"without permission": func(f *anyFolder, t *rapid.T) {
		content := f.credit(t)
		name := f.put(t, content)
		f.keepsAside(name, content, noPermission)
		f.odd.shut["in/"+name] = true
	},
	"a payout": func(f *anyFolder, t *rapid.T) {
		p := f.payout(f.connection.Name, len(f.payouts), corridor.SEPA)
		if outcomes := f.a.Send(t.Context(), []ports.Payout{p}); !waiting(outcomes) {
			t.Fatalf("%+v", outcomes)
		}
		f.payouts, f.want = append(f.payouts, p), append(f.want, "IN_FILE")
	},
	"the next poll": func(f *anyFolder, t *rapid.T) { f.pollOn(t) },
	"a process that ends after a poll": func(f *anyFolder, t *rapid.T) {
		if _, err := f.a.Poll(t.Context(), f.cursor); err != nil { // nothing of it is stored
			t.Fatal(err)
		}
		f.restart()
	},
	"another process": func(f *anyFolder, _ *rapid.T) { f.restart() },
}

// drawPayout returns a payout that the bank has and whose state is known; -1 if there is none.
func (f *anyFolder) drawPayout(t *rapid.T, state string) int {
	var found []int
	for p := range f.payouts {
		if f.want[p] == state && f.messages[f.id(p)] != "" {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return -1
	}
	return rapid.SampledFrom(found).Draw(t, "payout")
}

// pollOn lets some minutes pass, reads what there is, and has the bank take what was sent.
func (f *anyFolder) pollOn(t *rapid.T) {
	f.database.clock.Advance(2 * time.Minute)
	f.poll()
	for p, state := range f.want {
		f.want[p] = strings.TrimSuffix(state, "?")
	}
	if err := f.take(); err != nil {
		t.Fatal(err)
	}
	f.messages = map[string]string{}
	for name, contents := range f.taken {
		orders, err := parseOrders(name, contents[0])
		if err != nil || len(contents) > 1 {
			t.Fatalf("the bank was given %s %d times: %v", name, len(contents), err)
		}
		for _, o := range orders {
			if f.messages[o.id] != "" {
				t.Errorf("order %s is in two files", o.id)
			}
			f.messages[o.id] = o.message
		}
	}
}

func TestIncoming_AnyFilesInAnyOrder(t *testing.T) {
	t.Parallel()
	// Whatever a bank puts down between its files, and whichever process reads them: each good file is used once, each bad one is
	// kept aside once with its place, beginning and reason, and payouts leave meanwhile, each once. A file that can be opened later is
	// used then.
	d := openDatabase(t)
	names := slices.Sorted(maps.Keys(anyFiles))
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		d.setClock(noon)
		n++
		f := d.anyFolder(t, fmt.Sprintf("bank-%d", n))
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			anyFiles[rapid.SampledFrom(names).Draw(rt, "step")](f, rt)
		}
		f.pollOn(rt)
		f.pollOn(rt)
		f.checkAside(rt)
		f.openAll(rt)
		f.checkUsed(rt)
	})
}

// checkAside compares what was kept aside, each once, as the store keeps it.
func (f *anyFolder) checkAside(t *rapid.T) {
	kept := map[string]ports.RawReport{}
	for _, raw := range f.got.Raw {
		if _, again := kept[raw.Key]; !again {
			kept[raw.Key] = raw
		}
	}
	if len(kept) != len(f.bad) {
		t.Errorf("%d files were kept aside, want %d: %s", len(kept), len(f.bad), f.aside())
	}
	for content, want := range f.bad {
		data := []byte(content[:min(len(content), maxKept)])
		found := 0
		for _, raw := range kept {
			if !slices.Contains(want.places, raw.Place) {
				continue
			}
			found++
			if want.reason == noPermission {
				data = nil
			}
			if raw.Kind != ports.RailFeedFile || !strings.Contains(raw.Problem, want.reason) || raw.Size != int64(len(content)) ||
				!bytes.Equal(raw.Data, data) {
				t.Errorf("%s: %q, %d bytes, of which %d; want %q of %d bytes", raw.Place, raw.Problem, raw.Size, len(raw.Data),
					want.reason, len(content))
			}
			if _, err := f.a.ReadRaw(t.Context(), raw); err == nil || err.Error() != raw.Problem {
				t.Errorf("%s again: %v, want %s", raw.Place, err, raw.Problem)
			}
		}
		if found != 1 {
			t.Errorf("kept aside %d times, want once: %q at %q", found, want.reason, want.places)
		}
	}
}

// openAll lets the service open what it may not open yet.
func (f *anyFolder) openAll(t *rapid.T) {
	for path := range f.odd.shut {
		delete(f.stays, strings.TrimPrefix(path, "in/"))
	}
	clear(f.odd.shut)
	f.pollOn(t)
	for _, raw := range f.got.Raw {
		if !strings.Contains(raw.Problem, noPermission) {
			continue
		}
		if _, err := f.a.ReadRaw(t.Context(), raw); err != nil {
			t.Errorf("%s, which was read: %v", raw.Place, err)
		}
	}
	f.poll()
}

// checkUsed compares what was used, each once.
func (f *anyFolder) checkUsed(t *rapid.T) {
	receipts := map[string]string{}
	for _, r := range f.got.Receipts {
		if receipts[r.PartnerID] != "" {
			t.Errorf("receipt %s was reported twice", r.PartnerID)
		}
		receipts[r.PartnerID] = r.Amount.String()
	}
	statements := map[string]string{}
	for _, s := range f.got.Statements {
		if statements[string(s.Data)] != "" {
			t.Errorf("statement %s was reported twice", s.Name)
		}
		statements[string(s.Data)] = s.Format
	}
	if !maps.Equal(receipts, f.receipts) {
		t.Errorf("receipts %v, want %v", receipts, f.receipts)
	}
	if !maps.Equal(statements, f.statements) {
		t.Errorf("statements %v, want %v", statements, f.statements)
	}
	if got, want := f.states(), strings.Join(f.want, ", "); got != want {
		t.Errorf("payouts %s, want %s", got, want)
	}
	if len(f.messages) != len(f.payouts) {
		t.Errorf("the bank has %d orders, want %d", len(f.messages), len(f.payouts))
	}
	if left, want := f.left("in"), strings.Join(slices.Sorted(maps.Keys(f.stays)), ", "); left != want || f.notices() != "" ||
		len(f.leftovers(f.t)) > 0 {
		t.Errorf("left %q, want %q; notices %s; uploads %v", left, want, f.notices(), f.leftovers(f.t))
	}
}
