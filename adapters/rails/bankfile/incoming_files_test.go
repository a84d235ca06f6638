package bankfile_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/bankfile/transport/sftptest"
	"causeway/ports"
)

var credit = entry("CRDT", "1.00", "B1", "", payment("E", memo("x")))

func TestIncoming_SameFileAgain(t *testing.T) {
	t.Parallel()
	// The same content is used once: under another name, again under the same one, and in an archive that has the name.
	d := openDatabase(t)
	for _, archive := range []string{"archive", "none"} {
		i := d.inbox(t, "bank-"+archive, with("archive", archive))
		i.put("a.xml", notification(credit))
		i.poll()
		i.put("b.xml", notification(credit))
		i.poll()
		i.put("a.xml", notification(credit))
		i.poll()
		i.put("a.xml", notification(entry("CRDT", "2.00", "B2", "")))
		i.poll()
		i.poll()

		if got := received(i.got.Receipts); got != "B1 1.00 EUR x, B2 2.00 EUR " {
			t.Errorf("%s: %s", archive, got)
		}
		if archive == "none" && i.left("in") != "a.xml, b.xml" || archive != "none" &&
			(i.left("in") != "" || i.left("archive") != "a.xml, a.xml.3, a.xml.4, b.xml") {
			t.Errorf("%s: left %q, archived %q", archive, i.left("in"), i.left("archive"))
		}
	}
}

func TestIncoming_FileThatIsStillUploaded(t *testing.T) {
	t.Parallel()
	// A file is read when it has not changed for some time, and one whose name says that it is not complete never is.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", with("stableFor", "30s"))
	content := notification(credit)
	i.put("a.xml.PART", content)
	for _, part := range []string{content[:100], content[:200], content} {
		i.put("a.xml", part)
		i.poll()
		d.clock.Advance(29 * time.Second)
		i.poll()
		if len(i.got.Receipts) > 0 {
			t.Fatalf("read %d of %d bytes", len(part), len(content))
		}
	}
	d.clock.Advance(time.Second)
	i.poll()

	if got := received(i.got.Receipts); got != "B1 1.00 EUR x" || i.left("in") != "a.xml.PART" || i.notices() != "" {
		t.Errorf("%s; left %s; %s", got, i.left("in"), i.notices())
	}
}

func TestIncoming_UnreadableFilesBlockNothing(t *testing.T) {
	t.Parallel()
	// Nothing in a file is used that has an error anywhere, it stays where it is, and operators are shown why, once. Files
	// after it are read. A file that is replaced by a right one is read.
	d := openDatabase(t)
	bad := map[string]string{
		"empty.xml":     "",
		"truncated.xml": notification(credit)[:500],
		"text.txt":      "Dear customer",
		"html.xml":      "<html><body>Service unavailable</body></html>",
		"camt052.xml":   `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"><BkToCstmrAcctRpt></BkToCstmrAcctRpt></Document>`,
		"amount.xml":    notification(credit, entry("CRDT", "1.005", "B2", "")),
		"status.xml":    notification(credit, strings.Replace(entry("CRDT", "1.00", "B2", ""), "<Sts><Cd>BOOK</Cd></Sts>", "", 1)),
		"ach.ach":       "101 garbage",
		"large.xml":     notification(credit) + strings.Repeat(" ", 4096),
	}
	i := d.inbox(t, "bank-eur", with("maxFileBytes", "4096"))
	for name, content := range bad {
		i.put(name, content)
	}
	i.put("good.xml", notification(credit))
	i.poll()
	i.poll()

	if got := received(i.got.Receipts); got != "B1 1.00 EUR x" || i.left("archive") != "good.xml" {
		t.Errorf("%s; archived %s", got, i.left("archive"))
	}
	for name := range bad {
		if !strings.Contains(i.aside(), "in/"+name) || !strings.Contains(i.left("in"), name) {
			t.Errorf("%s: kept aside %s, left %s", name, i.aside(), i.left("in"))
		}
	}
	if len(i.got.Raw) != len(bad) {
		t.Errorf("kept aside %s", i.aside())
	}
	for _, raw := range i.got.Raw {
		if content := bad[path.Base(raw.Place)]; raw.Kind != ports.RailFeedFile || raw.Problem == "" || string(raw.Data) != content ||
			raw.Size != int64(len(content)) {
			t.Errorf("kept aside %+v", raw)
		}
	}
	i.put("truncated.xml", notification(entry("CRDT", "2.00", "B2", "")))
	i.poll()
	if got := received(i.got.Receipts); got != "B1 1.00 EUR x, B2 2.00 EUR " {
		t.Error(got)
	}
}

func TestIncoming_Names(t *testing.T) {
	t.Parallel()
	// A name need not be text. Folders and links are not files.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", nil)
	for n, name := range []string{"with space.xml", "caf\xe9.xml", "zwei\nzeilen.xml", "konto-überblick.xml",
		strings.Repeat("n", 255), ".hidden"} {
		i.put(name, notification(entry("CRDT", "1.00", fmt.Sprintf("B%d", n), "")))
	}
	if err := os.Mkdir(filepath.Join(i.dir, "in", "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(i.dir, "in", "link.xml")); err != nil {
		t.Fatal(err)
	}

	i.poll()

	if len(i.got.Receipts) != 6 || i.left("in") != "folder, link.xml" || i.notices() != "" {
		t.Errorf("%s; left %q; %s", received(i.got.Receipts), i.left("in"), i.notices())
	}
}

func TestIncoming_FileThatVanishes(t *testing.T) {
	t.Parallel()
	// A file that is gone, or is another one, before all of it was read by a process that has ended is shown to operators,
	// and others are read. What its own process has copied is read to its end.
	d := openDatabase(t)
	var entries []string
	for n := range 1200 {
		entries = append(entries, entry("CRDT", "1.00", fmt.Sprintf("B%d", n), ""))
	}
	for name, c := range map[string]struct {
		restart bool
		replace string
		want    int
		aside   string
	}{
		"gone":              {false, "", 1201, ""},
		"gone-restarted":    {true, "", 500, "in/big.xml"},
		"other-restarted":   {true, notification(entry("CRDT", "9.00", "X", "")), 501, "in/big.xml"},
		"same-restarted":    {true, "same", 1201, ""},
		"renamed-restarted": {true, "renamed", 1201 + 499, "in/big.xml"}, // from the beginning, with the same ids
	} {
		i := d.inbox(t, "bank-"+name, nil)
		i.put("big.xml", notification(entries...))
		report, err := i.a.Poll(t.Context(), "")
		if err != nil || len(report.Receipts) != 499 || !report.More {
			t.Fatalf("%d receipts, %v", len(report.Receipts), err)
		}
		i.add(report)
		i.cursor = report.Cursor
		path := filepath.Join(i.dir, "in", "big.xml")
		switch c.replace {
		case "same":
		case "renamed":
			if err := os.Rename(path, filepath.Join(i.dir, "in", "renamed.xml")); err != nil {
				t.Fatal(err)
			}
		default:
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if c.replace != "" {
				i.put("big.xml", c.replace)
			}
		}
		if c.restart {
			if err := i.a.Close(); err != nil {
				t.Fatal(err)
			}
			i.a = d.open(t, i.connection, d.Store, folderTransport(t, i.dir))
		}
		i.put("next.xml", notification(entry("CRDT", "3.00", "N", "")))
		i.poll()
		d.clock.Advance(time.Minute)
		i.poll()

		ids := map[string]bool{}
		for _, r := range i.got.Receipts {
			ids[r.PartnerID] = true
		}
		if aside := i.aside(); len(i.got.Receipts) != c.want || aside != c.aside || !ids["N"] {
			t.Errorf("%s: %d receipts, %d ids; %s", name, len(i.got.Receipts), len(ids), aside)
		}
	}
}

func TestIncoming_LargeFileInBoundedMemory(t *testing.T) {
	t.Parallel()
	// A large file over SFTP is read in pieces, with little memory and in linear time: each poll goes on where the one
	// before has ended.
	d := openDatabase(t)
	server := sftptest.Start(t)
	i := d.inbox(t, "bank-eur", nil)
	i.a = d.open(t, i.connection, d.Store, sftpTransport(server)(t, i.dir))
	const payments = 20_000
	var content strings.Builder
	for n := range payments {
		content.WriteString(entry("CRDT", "1.00", fmt.Sprintf("B%d", n), "", payment("E", memo(strings.Repeat("text ", 50)))))
	}
	i.put("big.xml", notification(content.String()))
	content.Reset()
	seen, polls := 0, 0
	var largest uint64
	for more := true; more; polls++ {
		report, err := i.a.Poll(t.Context(), i.cursor)
		if err != nil || len(report.Receipts) > 500 {
			t.Fatalf("%d receipts, %v", len(report.Receipts), err)
		}
		for _, r := range report.Receipts {
			if r.PartnerID != fmt.Sprintf("B%d", seen) {
				t.Fatalf("receipt %d is %s", seen, r.PartnerID)
			}
			seen++
		}
		i.cursor, more = report.Cursor, report.More
		if polls%50 == 10 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			largest = max(largest, m.HeapAlloc)
		}
	}
	if seen != payments || polls > payments/500+20 {
		t.Errorf("%d receipts in %d polls", seen, polls)
	}
	t.Logf("%d polls, %d MB", polls, largest>>20)
}
