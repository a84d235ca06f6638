package bankfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moov-io/ach"

	"causeway/adapters/rails/bankfile"
	"causeway/core/account"
	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/rail"
	"causeway/ports"
)

// only returns the content of the only file that was taken with a name that contains a text.
func (b *bank) only(t testing.TB, part string) string {
	t.Helper()
	if err := b.take(); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []string
	for name, contents := range b.taken {
		if strings.Contains(name, part) {
			found = append(found, contents...)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d files with %q were taken", len(found), part)
	}
	return found[0]
}

// validate checks a message against the schema of pain.001.
func validate(t testing.TB, message string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "message.xml")
	if err := os.WriteFile(path, []byte(message), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "xmllint", "--nonet", "--noout", "--schema",
		"../../../core/formats/iso20022/testdata/pain.001.001.09.xsd", path).CombinedOutput()
	if err != nil {
		t.Errorf("not valid (if xmllint is missing, run make needs-readers): %v\n%.2000s\n%.3000s", err, out, message)
	}
}

func TestAdapter_WritesValidMessages(t *testing.T) {
	t.Parallel()
	// A connection with several rails and currencies gives its bank one file of each, valid by the schema, with what names
	// and identifies a payment: texts in the characters of banks, the account of each rail, and the day of execution.
	d, b := openDatabase(t), newBank(t)
	connection := europe("every-rail", b.dir)
	connection.Rails, connection.Currencies = []corridor.Rail{corridor.SEPA, corridor.SEPAInstant, corridor.SWIFT, corridor.Wire},
		[]money.Currency{"EUR", "USD"}
	connection.Settings["fileName"] = "{rail}-{currency}-{number}"
	a := d.open(t, connection, d.Store, nil)
	var payouts []ports.Payout
	for n, r := range connection.Rails {
		payouts = append(payouts, d.payout("every", n, r))
	}
	payouts[0].Transaction.Description = "Rechnung № 12 für <Größe> & “Maß”"
	payouts[0].Account.Beneficiary.Address = &party.Address{Line1: "Straße 1", City: "München", PostalCode: "80331", Country: "DE"}
	swift := account.External{Currency: "USD", Fields: map[string]string{"country": "JP", "swiftCode": "BOTKJPJT", "accountNumber": "1234567"},
		Beneficiary: &account.Beneficiary{Type: account.Business, LegalName: "Kōgyō K.K.",
			Address: &party.Address{Line1: "1", City: "東京", Country: "JP"}}}
	payouts[2].Account, payouts[2].Transaction.Pricing.Received.Currency = swift, "USD"
	payouts[3].Account, payouts[3].Transaction.Pricing.Received.Currency = american(account.Business), "USD"
	if outcomes := a.Send(t.Context(), payouts); !waiting(outcomes) {
		t.Fatalf("%+v", outcomes)
	}
	refund := ports.Refund{ID: payouts[0].Transaction.ID.UUID(), Platform: d.platform, Rail: corridor.SEPA, Reference: "REF0",
		Amount:   money.Amount{Minor: 1, Currency: "EUR"},
		Original: ports.Original{Payer: &payouts[1].Account}}
	if outcomes := a.Refund(t.Context(), []ports.Refund{refund, {Internal: true}}); outcomes[0].Verdict != ports.Waiting ||
		outcomes[1].Verdict != ports.Done {
		t.Fatalf("%+v", outcomes)
	}
	d.clock.Advance(3 * time.Hour) // after the cut-offs of SEPA and SWIFT in Berlin

	pollAll(t, a, "")

	// The names of Japanese towns are in no script that banks take, so that the address is left out.
	endToEnd := func(n int) string {
		return "<EndToEndId>" + rail.EndToEndID(payouts[n].Transaction.ID.UUID()) + "</EndToEndId>"
	}
	for name, want := range map[string][]string{
		"SEPA-EUR": {endToEnd(0), endToEnd(0)[:44] + "-R</EndToEndId>", "<NbOfTxs>2</NbOfTxs>", "<Dt>2026-03-11</Dt>", "<Nm>Jurgen Muller</Nm>",
			"<TwnNm>Munchen</TwnNm>",
			"<Cd>SEPA</Cd>", "<MsgId>every-rail-20260310-1</MsgId>", "<PmtInfId>every-rail-20260310-1</PmtInfId>", "<Ustrd>Refund REF0</Ustrd>",
			"<BtchBookg>true</BtchBookg>"},
		"SEPA_INSTANT-EUR": {endToEnd(1), "<Dt>2026-03-10</Dt>", "<Cd>INST</Cd>", "<IBAN>DE02120300000000202051</IBAN>"},
		"SWIFT-USD":        {endToEnd(2), "<Dt>2026-03-11</Dt>", "<Cd>NURG</Cd>", "<BICFI>BOTKJPJT</BICFI>", "<Othr><Id>1234567</Id></Othr>"},
		"WIRE-USD": {endToEnd(3), "<Dt>2026-03-10</Dt>", "<Cd>URGP</Cd>", "<Cd>USABA</Cd></ClrSysId><MmbId>021000021</MmbId>",
			"<Id>123456789</Id>", "<Nm>Silva + Sons LLC</Nm>"},
	} {
		content := b.only(t, name)
		validate(t, content)
		for _, part := range want {
			if !strings.Contains(content, part) {
				t.Errorf("%s has no %s:\n%s", name, part, content)
			}
		}
	}
	if strings.Contains(b.only(t, "SWIFT"), "PstlAdr") {
		t.Error("an address that cannot be written is in the file")
	}
}

func TestAdapter_WritesACHFiles(t *testing.T) {
	t.Parallel()
	// An ACH file has a batch for each class and direction, trace numbers that go on from file to file, and names that are
	// unique on a day.
	d, b := openDatabase(t), newBank(t)
	connection := america("classes", b.dir)
	connection.Settings["maxPayments"] = "4"
	a := d.open(t, connection, d.Store, nil)
	a.Send(t.Context(), []ports.Payout{d.payout("ach", 0, corridor.ACH), d.payout("ach", 1, corridor.ACH)})
	a.Collect(t.Context(), []ports.Collection{d.collection("ach", 2), d.collection("ach", 3)})
	d.clock.Advance(time.Minute)
	a.Send(t.Context(), []ports.Payout{d.payout("ach", 4, corridor.ACH)})
	d.clock.Advance(time.Minute)

	pollAll(t, a, "")

	first, second := b.only(t, "000001.ach"), b.only(t, "000002.ach")
	file, err := ach.NewReader(strings.NewReader(first)).Read()
	if err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	var got []string
	for _, batch := range file.Batches {
		for _, e := range batch.GetEntries() {
			got = append(got, strings.Join([]string{batch.GetHeader().StandardEntryClassCode, e.TraceNumberField(),
				strings.TrimSpace(e.IdentificationNumberField()), e.IndividualName}, " "))
		}
	}
	key := func(n int) string { return rail.ShortID(rail.EndToEndID(seriesID("ach", n))) }
	want := []string{"CCD 121042880000001 " + key(1) + " Silva & Sons LLC", "CCD 121042880000002 " + key(3) + " Silva & Sons LLC",
		"PPD 121042880000003 " + key(0) + " Ana Silva", "WEB 121042880000004 " + key(2) + " Ana Silva"}
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("entries\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if file.Control.TotalDebitEntryDollarAmountInFile != 20_02+20_03 || file.Control.TotalCreditEntryDollarAmountInFile != 10_00+10_01 ||
		file.Header.FileIDModifier != "A" {
		t.Errorf("%+v", file.Control)
	}
	if other, err := ach.NewReader(strings.NewReader(second)).Read(); err != nil || other.Header.FileIDModifier != "B" ||
		!strings.Contains(second, "121042880000005") {
		t.Errorf("the second file: %v\n%s", err, second)
	}
}

func TestAdapter_DividesWhatIsTooMuchForAFile(t *testing.T) {
	t.Parallel()
	// A Nacha file carries 9,999,999,999.99: what is above goes into another one.
	d, b := openDatabase(t), newBank(t)
	a := d.open(t, america("large", b.dir), d.Store, nil)
	var payouts []ports.Payout
	for n := range 101 {
		payouts = append(payouts, d.payout("large", n, corridor.ACH))
		payouts[n].Transaction.Pricing.Received.Minor = 99_999_999_99
	}
	if outcomes := a.Send(t.Context(), payouts); !waiting(outcomes) {
		t.Fatalf("%+v", outcomes)
	}
	d.clock.Advance(time.Minute)

	pollAll(t, a, "")

	if first, second := len(nachaIDs.FindAllString(b.only(t, "000001"), -1)),
		len(nachaIDs.FindAllString(b.only(t, "000002"), -1)); first != 100 || second != 1 {
		t.Errorf("files with %d and %d payments", first, second)
	}
}

func TestAdapter_SettlesByBusinessDays(t *testing.T) {
	t.Parallel()
	// ACH entries are to settle on the business day after the one on which the bank takes their file by its cut-off, never on
	// the same day. The payments are done when some business days have passed without a return.
	d := openDatabase(t)
	effective := regexp.MustCompile(`(?m)^5.{68}(\d{6})`)
	for name, c := range map[string]struct {
		delivered, effective, settled string
		settings                      []string
		schedule                      rail.Schedule
	}{
		"before the cut-off":      {"2026-03-10T16:00:00-04:00", "260311", "2026-03-16T08:30:00-04:00", nil, rail.Schedule{}},
		"at the cut-off":          {"2026-03-10T17:00:00-04:00", "260312", "2026-03-17T08:30:00-04:00", nil, rail.Schedule{}},
		"with an early cut-off":   {"2026-03-10T16:00:00-04:00", "260312", "2026-03-17T08:30:00-04:00", nil, rail.Schedule{CutOff: "15:30"}},
		"on a Friday":             {"2026-03-13T12:00:00-04:00", "260316", "2026-03-19T08:30:00-04:00", nil, rail.Schedule{}},
		"late on a Friday":        {"2026-03-13T18:00:00-04:00", "260317", "2026-03-20T08:30:00-04:00", nil, rail.Schedule{}},
		"on a Sunday":             {"2026-03-15T12:00:00-04:00", "260317", "2026-03-20T08:30:00-04:00", nil, rail.Schedule{}},
		"before Independence Day": {"2027-07-02T12:00:00-04:00", "270706", "2027-07-09T08:30:00-04:00", nil, rail.Schedule{}},
		"on a day off of the bank": {"2026-03-10T16:00:00-04:00", "260313", "2026-03-18T08:30:00-04:00", nil,
			rail.Schedule{Holidays: []string{"2026-03-10", "2026-03-12"}}},
		"never on the same day": {"2026-03-10T16:00:00-04:00", "260311", "2026-03-16T18:00:00-04:00", nil, rail.Schedule{Takes: time.Minute}},
		"with other business days": {"2026-03-10T16:00:00-04:00", "260311", "2026-03-12T08:30:00-04:00", []string{"settleDays", "1"},
			rail.Schedule{}},
	} {
		b := newBank(t)
		connection := america(strings.ReplaceAll(name, " ", "-"), b.dir)
		for i := 0; i < len(c.settings); i += 2 {
			connection.Settings[c.settings[i]] = c.settings[i+1]
		}
		c.schedule.Rail = corridor.ACH
		connection.Schedules = []rail.Schedule{c.schedule}
		a := d.open(t, connection, d.Store, nil)
		payouts := []ports.Payout{d.payout(name, 1, corridor.ACH)}
		d.setClock(instant(t, c.delivered).Add(-time.Minute))
		a.Send(t.Context(), payouts)
		d.clock.Advance(time.Minute)
		cursor := pollAll(t, a, "")
		if day := effective.FindStringSubmatch(b.only(t, "")); day == nil || day[1] != c.effective {
			t.Errorf("%s: effective on %v, want %s", name, day, c.effective)
		}

		d.setClock(instant(t, c.settled).Add(-time.Second))
		cursor = pollAll(t, a, cursor)
		early := a.Send(t.Context(), payouts)[0]
		d.clock.Advance(time.Second)
		report, err := a.Poll(t.Context(), cursor)
		done := a.Send(t.Context(), payouts)[0]

		if early.Verdict != ports.Waiting || err != nil || done.Verdict != ports.Done || !done.RetryAt.After(d.clock.Now()) {
			t.Errorf("%s: %s before the time and then %s, %v", name, early.Verdict, done.Verdict, err)
		}
		if len(report.Changed) != 1 || report.Changed[0].Subject != payouts[0].Transaction.ID.UUID() || report.Changed[0].Platform != d.platform {
			t.Errorf("%s: changed %v", name, report.Changed)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAdapter_RefusesWhatNoFileCarries(t *testing.T) {
	t.Parallel()
	// A payment that no file can carry is refused at once with the reason, so that it never stops a file of others.
	d, b := openDatabase(t), newBank(t)
	iso, nacha := d.open(t, europe("iso", b.dir), d.Store, nil), d.open(t, america("nacha", b.dir), d.Store, nil)
	field := func(name, value string) func(*ports.Payout) {
		return func(p *ports.Payout) { p.Account.Fields[name] = value }
	}
	for want, c := range map[string]struct {
		rail   corridor.Rail
		change func(*ports.Payout)
	}{
		"has wrong check digits":     {corridor.SEPA, field("iban", "DE02120300000000202052")},
		"has no IBAN":                {corridor.SEPA, func(p *ports.Payout) { p.Account.Fields = map[string]string{"accountNumber": "1"} }},
		"script that banks do not":   {corridor.SEPA, func(p *ports.Payout) { p.Account.Beneficiary.FullName = "東京" }},
		"the most that SEPA takes":   {corridor.SEPA, func(p *ports.Payout) { p.Transaction.Pricing.Received.Minor = 1e12 }},
		"carries no USD":             {corridor.SEPA, func(p *ports.Payout) { p.Transaction.Pricing.Received.Currency = "USD" }},
		"carries no WIRE":            {corridor.SEPA, func(p *ports.Payout) { p.Transaction.DestinationRail = corridor.Wire }},
		"is not above zero":          {corridor.SEPA, func(p *ports.Payout) { p.Transaction.Pricing.Received.Minor = 0 }},
		"routing number has wrong":   {corridor.ACH, field("routingNumber", "021000022")},
		"longer than 17 characters":  {corridor.ACH, field("accountNumber", "123456789012345678")},
		"the most that ACH takes":    {corridor.ACH, func(p *ports.Payout) { p.Transaction.Pricing.Received.Minor = 1e10 }},
		"name of the receiver is em": {corridor.ACH, func(p *ports.Payout) { p.Account.Beneficiary = nil }},
	} {
		p, a := d.payout(want, 0, c.rail), iso
		if c.rail == corridor.ACH {
			a = nacha
		}
		c.change(&p)

		outcome := a.Send(t.Context(), []ports.Payout{p, d.payout(want, 1, c.rail)})

		if outcome[0].Verdict != ports.Refused || outcome[0].Reason == "" || !strings.Contains(outcome[0].Text, want) ||
			outcome[1].Verdict != ports.Waiting {
			t.Errorf("%s: %+v", want, outcome)
		}
	}
	collected := d.collection("x", 1)
	collected.Transaction.SourceRail, collected.Transaction.Pricing.Sent.Currency = corridor.SEPA, "EUR"
	if outcome := iso.Collect(t.Context(), []ports.Collection{collected})[0]; outcome.Verdict != ports.Refused ||
		!strings.Contains(outcome.Text, "by ACH only") {
		t.Errorf("%+v", outcome)
	}
	refund := ports.Refund{ID: seriesID("x", 2), Platform: d.platform, Rail: corridor.SEPA, Amount: money.Amount{Minor: 1, Currency: "EUR"}}
	if outcome := iso.Refund(t.Context(), []ports.Refund{refund})[0]; outcome.Verdict != ports.Refused ||
		!strings.Contains(outcome.Text, "has not named the account") {
		t.Errorf("%+v", outcome)
	}
	key := bankfile.OrderKey{Platform: d.platform, ID: bankorder.IDOf(bankorder.Refund, refund.ID)}
	if stored, err := d.OrdersByKey(t.Context(), []bankfile.OrderKey{key}); err != nil || len(stored) > 0 {
		t.Errorf("an order was stored for a payment that was refused: %v, %v", stored, err)
	}
}
