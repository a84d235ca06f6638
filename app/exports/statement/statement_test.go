package statement

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/core/money"
	"causeway/core/period"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// marchStatement is a statement with names in three scripts and malicious texts.
func marchStatement() (Summary, Movements) {
	s := Summary{Company: Company{"Acme Payments <Ltd>", "Authorised by the Authority, number 900000.", "1 High Street, London"},
		Issuer: "Acme & Søn", Owner: "Ελένη Иванова <b>王</b>", Account: "InternalAccount:0199f0a2-0000-7000-8000-000000000011",
		Currency: money.EUR,
		Interval: period.Interval{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)},
		Opening:  123_456_789, Closing: 123_455_738, TotalIn: 0, TotalOut: 1051, Fees: 51, RefundedPayments: 2, MovementCount: 2,
		AsOf: time.Date(2026, 4, 2, 3, 4, 5, 6000, time.UTC)}
	return s, func(yield func(Movement) bool) {
		_ = yield(Movement{At: s.From.Add(time.Hour), Description: "Payment sent", Counterparty: "Łukasz \"Żółw\"",
			Note: "</td><script>alert(1)</script>\n\u202eevil", Amount: -1000, Balance: 123_455_789,
			Transaction: "Transaction:0199f0a2-0000-7000-8000-000000000021",
			Exchange:    Exchange{"Received", money.Amount{Minor: 1_085, Currency: money.USD}, money.EUR, money.USD, money.MustRate("1.085")},
			Refunded:    true, Net: -51}) &&
			yield(Movement{At: s.From.Add(2 * time.Hour), Description: "Fee", Note: strings.Repeat("word ", 40), Amount: -51, Balance: 123_455_738})
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	// The page equals its golden file, and no text from outside becomes markup.
	s, movements := marchStatement()
	var out bytes.Buffer
	if err := HTML(&out, s, movements); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "statement.html")
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the page differs; if the new page is right, run the test with -update\n%s", out.String())
	}
	for _, text := range []string{"<script", "<b>王", "http:", "https:", "\u202e"} {
		if strings.Contains(out.String(), text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func TestCompany_WithoutName(t *testing.T) {
	t.Parallel()
	// Without a company, a statement names the platform only; without a licence or an address there is
	// no empty line.
	if got := (Company{}).lines(); got != nil {
		t.Errorf("got %q", got)
	}
	if got := (Company{Name: "Acme Ltd"}).lines(); len(got) != 1 || got[0] != "Issued by Acme Ltd" {
		t.Errorf("got %q", got)
	}
}

func TestHTML_WriteError(t *testing.T) {
	t.Parallel()
	// An error of the writer is returned.
	s, movements := marchStatement()
	writeErr := errors.New("disk full")
	if err := HTML(writerFunc(func([]byte) (int, error) { return 0, writeErr }), s, movements); !errors.Is(err, writeErr) {
		t.Errorf("got %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

func TestPDF(t *testing.T) {
	t.Parallel()
	// The document has the texts of the page, in three scripts and extractable, and is identical
	// byte for byte when it is rendered again.
	s, movements := marchStatement()
	var out, again bytes.Buffer
	if err := errors.Join(PDF(&out, s, movements), PDF(&again, s, movements)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("two renderings differ")
	}

	text := pdfText(t, out.Bytes())

	for _, want := range []string{"Acme & Søn", "Issued by Acme Payments <Ltd>, 1 High Street, London\n",
		"Authorised by the Authority, number 900000.", "Ελένη Иванова <b>□</b>", s.Account, "1 Mar 2026 – 31 Mar 2026",
		"1,234,567.89", "Łukasz \"Żółw\"",
		"alert(1)", "-10.00", "1,234,557.89", "-0.51", "1,234,557.38", "Received 10.85 USD, 1 EUR =", "1.085 USD", "in all",
		"2 refunded payments", "20260301-20260331-", "2026-04-02T03:04:05.000006Z", "Page 1 of 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the document has no %q:\n%s", want, text)
		}
	}
}

func TestPDF_ManyPages(t *testing.T) {
	t.Parallel()
	// Each of many movements is printed once, on numbered pages with column headings.
	s, _ := marchStatement()
	const count = 500
	var out bytes.Buffer
	err := PDF(&out, s, func(yield func(Movement) bool) {
		for i := range count {
			if !yield(Movement{At: s.From, Description: "Deposit", Note: "number", Amount: int64(i + 1), Balance: int64(i)}) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}

	text := pdfText(t, out.Bytes())

	pages := strings.Count(text, "\f")
	if pages < 10 || strings.Count(text, "Deposit") != count || strings.Count(text, "Counterparty") != pages ||
		!strings.Contains(text, "Page 2 of ") {
		t.Errorf("%d pages, %d movements, %d heads", pages, strings.Count(text, "Deposit"), strings.Count(text, "Counterparty"))
	}
}

func TestPDF_IDsAreWhole(t *testing.T) {
	t.Parallel()
	// 1,030 payments with a note, an exchange and an id, none of which is broken over two lines, take at most 30 pages.
	s, _ := marchStatement()
	const count = 1030
	id := func(i int) string { return fmt.Sprintf("Transaction:0199f0a2-0000-7000-8000-%012d", i) }
	var out bytes.Buffer
	err := PDF(&out, s, func(yield func(Movement) bool) {
		for i := range count {
			if !yield(Movement{At: s.From, Description: "Payment sent", Counterparty: "Café Hernández, Mexico City", Note: "Invoice 4711",
				Amount: -9_000_000_000_000_000, Balance: 9_000_000_000_000_000, Transaction: id(i),
				Exchange: Exchange{"Received", money.Amount{Minor: 9_894_500, Currency: money.BTC}, money.EUR, money.BTC,
					money.MustRate("0.000012345678")}}) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}

	text := pdfText(t, out.Bytes())

	for i := range count {
		if !strings.Contains(text, "Invoice 4711 · Received 0.09894500 BTC, 1 EUR = 0.000012345678 BTC · "+id(i)+"\n") {
			t.Fatalf("no %s", id(i))
		}
	}
	if pages := strings.Count(text, "\f"); pages > 30 {
		t.Errorf("%d pages", pages)
	}
}

func TestPDF_ArbitraryText(t *testing.T) {
	t.Parallel()
	// A document is rendered for any text in names and notes.
	for _, text := range []string{"\U0001f600\U0010ffff", "\xff\xfe", "\x00", strings.Repeat("x", 5000), strings.Repeat("é", 300),
		"مرحبا שלום", "{pages}", "\u0301\u0301", "a\u00adb"} {
		s, _ := marchStatement()
		s.Issuer, s.Owner = text, text
		err := PDF(io.Discard, s, func(yield func(Movement) bool) {
			yield(Movement{At: s.From, Description: "Deposit", Counterparty: text, Note: text})
		})
		if err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestFonts_CoverSupportedRanges(t *testing.T) {
	t.Parallel()
	// Both fonts have a glyph for every supported letter.
	for name, font := range map[string][]byte{"regular": regularFont, "bold": boldFont} {
		glyphs := readGlyphs(t, font)
		missing := 0
		for r := rune(0); r < 0x10000; r++ {
			if isSupported(r) && !glyphs[r] {
				missing++
				if missing < 10 {
					t.Errorf("%s has no %U %c", name, r, r)
				}
			}
		}
	}
	for _, r := range "ABCxyz ÀßĐŁőž ΑΩάώ АЯёЇґ €£¥₹ “”–…□" {
		if !isSupported(r) {
			t.Errorf("%U %c is not covered", r, r)
		}
	}
}

// readGlyphs reads the letters of a font from its cmap table of format 4.
func readGlyphs(t *testing.T, font []byte) map[rune]bool {
	t.Helper()
	u16 := func(at int) int { return int(binary.BigEndian.Uint16(font[at:])) }
	u32 := func(at int) int { return int(binary.BigEndian.Uint32(font[at:])) }
	glyphs := map[rune]bool{}
	for i := range u16(4) {
		if table := 12 + 16*i; string(font[table:table+4]) == "cmap" {
			cmap := u32(table + 8)
			for j := range u16(cmap + 2) {
				sub := cmap + u32(cmap+4+8*j+4)
				if u16(sub) != 4 {
					continue
				}
				n := u16(sub+6) / 2
				for k := range n {
					end, start, delta, offset := u16(sub+14+2*k), u16(sub+16+2*n+2*k), u16(sub+16+4*n+2*k), u16(sub+16+6*n+2*k)
					for r := start; r <= end && r < 0xffff; r++ {
						glyph := (r + delta) & 0xffff
						if offset != 0 {
							if glyph = u16(sub + 16 + 6*n + 2*k + offset + 2*(r-start)); glyph != 0 {
								glyph = (glyph + delta) & 0xffff
							}
						}
						if glyph != 0 {
							glyphs[rune(r)] = true
						}
					}
				}
			}
		}
	}
	if len(glyphs) < 1000 {
		t.Fatalf("only %d letters found: the test reads the font wrongly", len(glyphs))
	}
	return glyphs
}

func pdfText(t *testing.T, document []byte) string {
	t.Helper()
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Fatal("pdftotext is not installed; install it with .ci/need pdftotext")
	}
	command := exec.CommandContext(t.Context(), program, "-layout", "-", "-")
	command.Stdin = bytes.NewReader(document)
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestFormatAmount(t *testing.T) {
	t.Parallel()
	// Amounts have thousands separators, for any size, sign and number of decimals.
	for want, c := range map[string]struct {
		minor    int64
		currency money.Currency
	}{
		"0.00": {0, money.USD}, "-0.01": {-1, money.USD}, "999.99": {99_999, money.USD}, "1,000.00": {100_000, money.USD},
		"-1,234,567.89": {-123_456_789, money.USD},
		"123":           {123, "JPY"}, "1,234": {1234, "JPY"}, "0.00000001": {1, money.BTC}, "-92,233,720,368.54775808": {-1 << 63, money.BTC},
	} {
		if got := formatAmount(c.minor, c.currency); got != want {
			t.Errorf("%d %s is %s, want %s", c.minor, c.currency, got, want)
		}
	}
}
