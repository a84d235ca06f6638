package iso20022_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/formats/iso20022"
	"causeway/core/money"
	"causeway/core/party"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// validate checks a message against a schema.
func validate(t testing.TB, schema string, message []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "message.xml")
	if err := os.WriteFile(path, message, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "xmllint", "--nonet", "--noout", "--schema", schema, path).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Fatal("xmllint is missing: run make needs-readers")
	}
	if err != nil {
		t.Errorf("not valid: %v\n%.2000s\n%.3000s", err, out, message)
	}
}

const initiationSchema = "testdata/pain.001.001.09.xsd"

func newDebtor() iso20022.Party {
	return iso20022.Party{Name: "Pägo GmbH & Co. KG", Address: &iso20022.Address{Street: "Straße des 17. Juni", BuildingNumber: "135",
		PostalCode: "10623", Town: "Berlin", Country: "DE"}}
}

func newBlock(scheme iso20022.Scheme, currency money.Currency, transfers ...iso20022.Transfer) iso20022.Block {
	return iso20022.Block{
		ID: "B-" + strings.ReplaceAll(string(scheme), "_", "-"), Scheme: scheme, Currency: currency,
		ExecuteOn: time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC),
		Debtor:    newDebtor(), DebtorAccount: iso20022.Account{IBAN: "DE89370400440532013000", Currency: string(currency)},
		DebtorAgent: iso20022.Agent{BIC: "COBADEFFXXX"}, Transfers: yield(transfers...),
	}
}

func yield(transfers ...iso20022.Transfer) iter.Seq2[iso20022.Transfer, error] {
	return func(yield func(iso20022.Transfer, error) bool) {
		for _, t := range transfers {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func newTransfer(minor int64, currency money.Currency) iso20022.Transfer {
	return iso20022.Transfer{
		InstructionID: "I1", EndToEndID: "0193F4A0C0DE7000800000000000000A", Amount: money.Amount{Minor: minor, Currency: currency},
		Creditor: iso20022.Party{Name: "Łukasz Żółć"}, CreditorAccount: iso20022.Account{IBAN: "PL61109010140000071219812874"},
	}
}

func newInitiation(blocks ...iso20022.Block) iso20022.Initiation {
	return iso20022.Initiation{MessageID: "M-20260310-1", CreatedAt: time.Date(2026, 3, 10, 15, 4, 5, 678, time.FixedZone("", 3600)),
		Initiator: newDebtor(), Blocks: blocks}
}

func write(t testing.TB, i iso20022.Initiation) (iso20022.Written, string) {
	t.Helper()
	var file bytes.Buffer
	written, err := iso20022.Write(&file, i)
	if err != nil {
		t.Fatal(err)
	}
	return written, file.String()
}

func TestWrite_EverySchemeIsValid(t *testing.T) {
	t.Parallel()
	// A file with a block of each scheme, and with everything that can be written, is valid against the schema that
	// ISO 20022 publishes, and as expected to the last byte.
	full := newTransfer(1_234_567, "USD")
	full.UETR = iso20022.UETROf(uuid.MustParse("0193f4a0-c0de-7000-8000-00000000000a"))
	full.CreditorAccount = iso20022.Account{Number: "1234567890", NumberScheme: "BBAN", Currency: "USD"}
	full.CreditorAgent = iso20022.Agent{ClearingSystem: "USABA", MemberID: "021000021", Name: "JPMorgan Chase Bank, N.A.",
		Address: &iso20022.Address{Town: "New York", Country: "US"}}
	address := iso20022.AddressOf(party.Address{Line1: "1 Main St", Line2: "Apt 2", City: "Austin", State: "TX",
		PostalCode: "78701", Country: "US"})
	full.Creditor = iso20022.Party{Name: "Jane \"JD\" Doe", Address: &address, OrganisationID: "C-17", OrganisationScheme: "CUST"}
	full.UltimateDebtor = &iso20022.Party{Name: "Kunde <1>"}
	full.Purpose, full.Remittance = "SUPP", "Invoice #17 – März"
	hybrid := newTransfer(17, "USD")
	hybrid.CreditorAgent.BIC, hybrid.Reference = "BOTKJPJTXXX", "2026-17"
	hybrid.Creditor.Address = &iso20022.Address{Town: "Osaka", Country: "JP", Lines: []string{"1-2-3", "Umeda"}}
	wire := newBlock(iso20022.Wire, "USD", full, hybrid)
	wire.ChargeBearer, wire.SingleBooking, wire.ChargesAccount = "DEBT", true, &iso20022.Account{IBAN: "DE89370400440532013000"}
	referenced := newTransfer(1, "EUR")
	referenced.Reference = "RF18539007547034"
	instant := newBlock(iso20022.SEPAInstant, "EUR", newTransfer(99, "EUR"))
	instant.DebtorAgent = iso20022.Agent{}
	yen := newTransfer(5_000, "JPY")
	yen.CreditorAgent.BIC = "BOTKJPJTXXX"

	written, file := write(t, newInitiation(newBlock(iso20022.SEPA, "EUR", newTransfer(10_050, "EUR"), referenced), instant, wire,
		newBlock(iso20022.CrossBorder, "JPY", yen)))

	validate(t, initiationSchema, []byte(file))
	if want := (iso20022.Written{Count: 6, ControlSum: "17447.34"}); written != want {
		t.Errorf("%+v, want %+v", written, want)
	}
	const golden = "testdata/initiation.xml"
	if *update {
		if err := os.WriteFile(golden, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if file != string(want) {
		t.Errorf("got\n%s\nwant\n%s", file, want)
	}
}

// elementsOfSEPA are those that the guidelines of the SEPA schemes have for customers (EPC132-08).
const elementsOfSEPA = `Document CstmrCdtTrfInitn GrpHdr MsgId CreDtTm NbOfTxs CtrlSum InitgPty PmtInf PmtInfId PmtMtd BtchBookg PmtTpInf SvcLvl
	LclInstrm ReqdExctnDt Dt Dbtr DbtrAcct DbtrAgt ChrgBr CdtTrfTxInf PmtId InstrId EndToEndId Amt InstdAmt UltmtDbtr CdtrAgt Cdtr CdtrAcct
	Purp RmtInf Ustrd Nm PstlAdr StrtNm BldgNb Room PstCd TwnNm CtrySubDvsn Ctry Id OrgId Othr SchmeNm Cd IBAN Ccy FinInstnId BICFI`

func TestWrite_SEPAHasNothingElse(t *testing.T) {
	t.Parallel()
	// For SEPA everything is left out that its guidelines do not have, whatever is known of a transfer.
	transfer := newTransfer(1, "EUR")
	transfer.UETR = iso20022.UETROf(uuid.MustParse("0193f4a0-c0de-7000-8000-00000000000a"))
	transfer.CreditorAccount.Currency = "EUR"
	transfer.CreditorAgent = iso20022.Agent{BIC: "WBKPPLPPXXX", Name: "Santander", ClearingSystem: "PLKNR", MemberID: "10901014",
		Address: &iso20022.Address{Town: "Warszawa", Country: "PL"}}
	transfer.Creditor = newDebtor()
	transfer.Creditor.Address.Room, transfer.Creditor.Address.State = "2", "Berlin"
	transfer.Creditor.OrganisationID, transfer.Creditor.OrganisationScheme = "17", "CUST"
	ultimate := newDebtor()
	transfer.UltimateDebtor, transfer.Purpose, transfer.Remittance = &ultimate, "SALA", "Salary"
	block := newBlock(iso20022.SEPAInstant, "EUR", transfer)
	block.DebtorAgent.Name, block.DebtorAgent.Address = "Commerzbank", &iso20022.Address{Town: "Frankfurt", Country: "DE"}

	_, file := write(t, newInitiation(block))

	validate(t, initiationSchema, []byte(file))
	allowed := strings.Fields(elementsOfSEPA)
	for _, part := range strings.Split(file, "<")[2:] {
		if name := strings.TrimPrefix(part[:strings.IndexAny(part, "> ")], "/"); !slices.Contains(allowed, name) {
			t.Errorf("has %s", name)
		}
	}
	for _, want := range []string{"<InitgPty><Nm>Pago GmbH + Co. KG</Nm></InitgPty>",
		"<DbtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></DbtrAgt>",
		"<CdtrAgt><FinInstnId><BICFI>WBKPPLPPXXX</BICFI></FinInstnId></CdtrAgt>", "<UltmtDbtr><Nm>Pago GmbH + Co. KG</Nm></UltmtDbtr>",
		"<CdtrAcct><Id><IBAN>PL61109010140000071219812874</IBAN></Id></CdtrAcct>"} {
		if !strings.Contains(file, want) {
			t.Errorf("no %s in\n%s", want, file)
		}
	}
	if transfer.UltimateDebtor.Address == nil {
		t.Error("the transfer of the caller was changed")
	}
}

func TestWrite_CountsAndSums(t *testing.T) {
	t.Parallel()
	// The totals of the blocks and of the file are those of the transfers, whether they are given or counted. If the
	// transfers are others than those that were counted, nothing is to be sent.
	transfers := []iso20022.Transfer{newTransfer(1, "EUR"), newTransfer(2_99, "EUR"), newTransfer(1_000_000_00, "EUR")}
	counted := newBlock(iso20022.SEPA, "EUR", transfers...)
	given := counted
	given.Totals = &iso20022.Totals{Count: 3, Sum: money.TotalOf(1_000_003_00)}

	_, first := write(t, newInitiation(counted))
	_, second := write(t, newInitiation(given))

	if first != second {
		t.Errorf("counted\n%s\ngiven\n%s", first, second)
	}
	for _, totals := range []string{"<NbOfTxs>3</NbOfTxs><CtrlSum>1000003.00</CtrlSum><InitgPty>",
		"<NbOfTxs>3</NbOfTxs><CtrlSum>1000003.00</CtrlSum><PmtTpInf>"} {
		if !strings.Contains(first, totals) {
			t.Errorf("no %s in\n%s", totals, first)
		}
	}
	for name, totals := range map[string]iso20022.Totals{
		"one more":   {Count: 4, Sum: money.TotalOf(1_000_003_00)},
		"one less":   {Count: 2, Sum: money.TotalOf(1_000_003_00)},
		"a cent":     {Count: 3, Sum: money.TotalOf(1_000_003_01)},
		"nothing":    {},
		"a negative": {Count: -1},
	} {
		given.Totals = &totals
		if written, err := iso20022.Write(&bytes.Buffer{}, newInitiation(given)); err == nil || written != (iso20022.Written{}) {
			t.Errorf("%s: %+v, %v", name, written, err)
		}
	}
}

func TestWrite_RefusesWhatNoBankTakes(t *testing.T) {
	t.Parallel()
	// A transfer or block that a bank would reject is refused with the reason, by CheckTransfer as by Write.
	latin := func(f func(*iso20022.Transfer)) iso20022.Transfer { t := newTransfer(1_00, "EUR"); f(&t); return t }
	for name, c := range map[string]struct {
		scheme   iso20022.Scheme
		transfer iso20022.Transfer
		want     string
	}{
		"no amount":          {iso20022.SEPA, newTransfer(0, "EUR"), "not above zero"},
		"above the most":     {iso20022.SEPA, newTransfer(1_000_000_000_00, "EUR"), "above 999,999,999.99"},
		"another currency":   {iso20022.SEPA, newTransfer(1, "USD"), `its currency is "USD", and that of its block "EUR"`},
		"no instruction id":  {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.InstructionID = "" }), "the instruction id is empty"},
		"a long id":          {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.EndToEndID = strings.Repeat("A", 36) }), "more than 35"},
		"an id with Ä":       {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.EndToEndID = "Ä1" }), "other characters"},
		"an id with slashes": {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.EndToEndID = "A//1" }), "slash"},
		"a wrong IBAN": {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.CreditorAccount.IBAN = "PL61109010140000071219812875" }),
			"wrong check digits"},
		"no IBAN": {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.CreditorAccount = iso20022.Account{Number: "1"} }),
			"has no IBAN"},
		"a wrong BIC":    {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.CreditorAgent.BIC = "COBADEF" }), "the BIC"},
		"a wrong UETR":   {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.UETR = "0193f4a0-c0de-7000-8000-00000000000a" }), "version 4"},
		"no name":        {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.Creditor.Name = " " }), "write it in Latin letters"},
		"a Chinese name": {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.Creditor.Name = "李小龙" }), "write it in Latin letters"},
		"no town": {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.Creditor.Address = &iso20022.Address{Country: "DE"} }),
			"no town"},
		"no country": {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.Creditor.Address = &iso20022.Address{Town: "Bonn"} }),
			"ISO 3166-1"},
		"three lines": {iso20022.SEPA, latin(func(t *iso20022.Transfer) {
			t.Creditor.Address = &iso20022.Address{Town: "Bonn", Country: "DE", Lines: []string{"1", "2", "3"}}
		}), "more than 2 lines"},
		"lines in SEPA": {iso20022.SEPA, latin(func(t *iso20022.Transfer) {
			t.Creditor.Address = &iso20022.Address{Town: "Bonn", Country: "DE", Lines: []string{"1"}}
		}), "SEPA takes only structured ones"},
		"a purpose in words": {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.Purpose = "salary" }), "the purpose"},
		"two references": {iso20022.SEPA, latin(func(t *iso20022.Transfer) { t.Reference, t.Remittance = "RF18539007547034", "rent" }),
			"give only one"},
		"no bank for a wire": {iso20022.Wire, newTransfer(1, "EUR"), "neither a BIC nor a number"},
	} {
		block := newBlock(c.scheme, "EUR", c.transfer)
		var refused *iso20022.TransferError
		if err := block.CheckTransfer(c.transfer); !errors.As(err, &refused) || refused.EndToEndID != c.transfer.EndToEndID ||
			!strings.Contains(refused.Problem, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if _, err := iso20022.Write(&bytes.Buffer{}, newInitiation(block)); !errors.As(err, &refused) ||
			!strings.HasPrefix(err.Error(), `block "B-`) {
			t.Errorf("%s: written: %v", name, err)
		}
	}
	change := func(f func(*iso20022.Block)) iso20022.Initiation {
		b := newBlock(iso20022.SEPA, "EUR", newTransfer(1, "EUR"))
		f(&b)
		return newInitiation(b)
	}
	failing := errors.New("the database is gone")
	for name, c := range map[string]struct {
		initiation iso20022.Initiation
		want       string
	}{
		"no block": {newInitiation(), "no block"},
		"a block twice": {newInitiation(newBlock(iso20022.SEPA, "EUR", newTransfer(1, "EUR")),
			newBlock(iso20022.SEPA, "EUR", newTransfer(1, "EUR"))), "another block has the same id"},
		"no transfers":      {change(func(b *iso20022.Block) { b.Transfers = yield() }), "no transfers"},
		"no function":       {change(func(b *iso20022.Block) { b.Transfers = nil }), "no transfers"},
		"SEPA in dollars":   {change(func(b *iso20022.Block) { b.Currency = "USD" }), "SEPA takes EUR"},
		"a chain":           {change(func(b *iso20022.Block) { b.Scheme, b.Currency = iso20022.Wire, "USDC" }), "none of ISO 4217"},
		"SEPA at our cost":  {change(func(b *iso20022.Block) { b.ChargeBearer = "DEBT" }), "SLEV"},
		"an unknown bearer": {change(func(b *iso20022.Block) { b.Scheme, b.ChargeBearer = iso20022.Wire, "SLEV" }), "none of SHAR"},
		"an unknown scheme": {change(func(b *iso20022.Block) { b.Scheme = "ACH" }), "unknown"},
		"no date":           {change(func(b *iso20022.Block) { b.ExecuteOn = time.Time{} }), "no date of execution"},
		"a wrong account": {change(func(b *iso20022.Block) { b.DebtorAccount.IBAN = "DE00370400440532013000" }),
			"debtor account has wrong check digits"},
		"a wrong charges IBAN": {change(func(b *iso20022.Block) { b.ChargesAccount = &iso20022.Account{} }), "charges account has no IBAN"},
		"charges in SEPA":      {change(func(b *iso20022.Block) { b.ChargesAccount = &b.DebtorAccount }), "SEPA takes no account for charges"},
		"lines of the debtor": {change(func(b *iso20022.Block) {
			b.Debtor.Address = &iso20022.Address{Town: "Bonn", Country: "DE", Lines: []string{"1"}}
		}), "SEPA takes only structured ones"},
		"no message id": {iso20022.Initiation{}, "the message id is empty"},
		"no time":       {iso20022.Initiation{MessageID: "M", Initiator: newDebtor()}, "no time of creation"},
		"a failing source": {change(func(b *iso20022.Block) {
			b.Transfers = func(yield func(iso20022.Transfer, error) bool) { yield(iso20022.Transfer{}, failing) }
		}), failing.Error()},
	} {
		if _, err := iso20022.Write(&bytes.Buffer{}, c.initiation); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestWrite_SumTooLarge(t *testing.T) {
	t.Parallel()
	// Sums are exact however large; one that the message cannot hold is refused.
	large := newTransfer(money.MaxMinor, "USD")
	large.CreditorAgent.BIC = "COBADEFFXXX"
	block := newBlock(iso20022.Wire, "USD", large)
	block.Totals = &iso20022.Totals{Count: 111, Sum: money.TotalOf(money.MaxMinor * 111)}
	block.Transfers = func(yield func(iso20022.Transfer, error) bool) {
		for range 111 {
			if !yield(large, nil) {
				return
			}
		}
	}

	written, file := write(t, newInitiation(block))
	validate(t, initiationSchema, []byte(file))
	if written.ControlSum != "9990000000000000.00" {
		t.Errorf("sum %s", written.ControlSum)
	}
	block.Totals = &iso20022.Totals{Count: 112, Sum: money.TotalOf(money.MaxMinor).Add(money.TotalOf(money.MaxMinor * 111))}
	if _, err := iso20022.Write(&bytes.Buffer{}, newInitiation(block)); err == nil || !strings.Contains(err.Error(), "write several files") {
		t.Errorf("%v", err)
	}
}

func TestWrite_ErrorOfDestination(t *testing.T) {
	t.Parallel()
	// What the destination refuses is an error, also if only the last bytes are concerned.
	_, file := write(t, newInitiation(newBlock(iso20022.SEPA, "EUR", newTransfer(1, "EUR"))))
	for _, room := range []int{0, len(file) - 1} {
		if _, err := iso20022.Write(&fullDisk{room}, newInitiation(newBlock(iso20022.SEPA, "EUR", newTransfer(1, "EUR")))); !errors.Is(err,
			errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return d.room, errFull
	}
	d.room -= len(p)
	return len(p), nil
}

func TestUETROf_ValidAndStable(t *testing.T) {
	t.Parallel()
	// The UETR of an id is always the same, another for another id, and of the version that banks require.
	one, two := uuid.MustParse("0193f4a0-c0de-7000-8000-00000000000a"), uuid.MustParse("0193f4a0-c0de-7000-8000-00000000000b")
	if got, want := iso20022.UETROf(one), "a4b43f0b-e160-42b2-92b0-910c90ac1643"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if iso20022.UETROf(one) == iso20022.UETROf(two) || uuid.MustParse(iso20022.UETROf(two)).Version() != 4 {
		t.Error(iso20022.UETROf(two))
	}
}

func TestWrite_AnyTextIsValid(t *testing.T) {
	t.Parallel()
	// Whatever the texts contain: what is not refused is valid against the schema.
	var accepted []iso20022.Transfer
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) string {
			return rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Za-z .,&<>"'/]{0,200}`),
				rapid.StringMatching(`[\p{L}\p{M}\p{Zs}]{0,80}`)).Draw(t, label)
		}
		transfer := newTransfer(rapid.Int64Range(1, money.MaxMinor).Draw(t, "minor"), "USD")
		transfer.Creditor.Name, transfer.Remittance = text("name"), text("remittance")
		transfer.Creditor.Address = &iso20022.Address{Street: text("street"), BuildingNumber: text("number"), PostalCode: text("code"),
			Town: text("town"), State: text("state"), Country: "US", Lines: []string{text("line 1"), text("line 2")}}
		transfer.CreditorAgent = iso20022.Agent{BIC: "COBADEFFXXX", Name: text("bank")}
		if newBlock(iso20022.Wire, "USD").CheckTransfer(transfer) == nil && len(accepted) < 1000 {
			accepted = append(accepted, transfer)
		}
	})
	if len(accepted) < 10 {
		t.Fatalf("%d of the texts are accepted", len(accepted))
	}
	slices.SortFunc(accepted, func(a, b iso20022.Transfer) int { return cmp.Compare(a.Amount.Minor, b.Amount.Minor) })
	for len(accepted) > 0 { // each chunk has a sum that fits
		n := min(len(accepted), 100)
		_, file := write(t, newInitiation(newBlock(iso20022.Wire, "USD", accepted[:n]...)))
		validate(t, initiationSchema, []byte(file))
		accepted = accepted[n:]
	}
}

func BenchmarkWrite(b *testing.B) {
	// 100,000 transfers, counted and written.
	block := newBlock(iso20022.SEPA, "EUR")
	transfer := newTransfer(1_000_01, "EUR")
	transfer.Remittance = "Payout of March"
	block.Transfers = func(yield func(iso20022.Transfer, error) bool) {
		for range 100_000 {
			if !yield(transfer, nil) {
				return
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		var size counter
		if _, err := iso20022.Write(&size, newInitiation(block)); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(size))
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
