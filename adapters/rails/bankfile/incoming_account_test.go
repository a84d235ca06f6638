package bankfile_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/money"
	"causeway/ports"
)

func euros(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "EUR"} }

// received describes receipts by their ids, amounts and references.
func received(receipts []ports.RailReceipt) string {
	var texts []string
	for _, r := range receipts {
		texts = append(texts, r.PartnerID+" "+r.Amount.String()+" "+r.Reference)
	}
	return strings.Join(texts, ", ")
}

func TestIncoming_MoneyReceived(t *testing.T) {
	t.Parallel()
	// A credit is a receipt with the bank's id, the reference that the payer has written and the account that it came from;
	// one of several payments is one for each. What is not booked, or is of collections of ours, is none.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", nil)
	payer := `<RltdPties><Dbtr><Pty><Nm>Ana Silva</Nm></Pty></Dbtr><DbtrAcct><Id><IBAN>PT50000201231234567890154</IBAN></Id></DbtrAcct></RltdPties>` +
		`<RltdAgts><DbtrAgt><FinInstnId><BICFI>CGDIPTPL</BICFI></FinInstnId></DbtrAgt></RltdAgts>`
	part := func(id, amount, text string) string {
		return `<TxDtls><Refs><AcctSvcrRef>` + id + `</AcctSvcrRef></Refs><Amt Ccy="EUR">` + amount + `</Amt><CdtDbtInd>CRDT</CdtDbtInd>` +
			memo(text) + `</TxDtls>`
	}
	i.put("n.xml", notification(
		entry("CRDT", "10.00", "B1", "", payment("NOTPROVIDED", payer, memo("Invoice 7, ref 4ZK8D2M9QX1B thanks"))),
		entry("CRDT", "30.00", "B2", "", part("B2-1", "10.00", "to fund-4zk8d2m9qx1b"), part("B2-2", "20.00", "rent for March")),
		entry("CRDT", "5.00", "", "", payment("E-9", memo("nameless"))),
		entry("CRDT", "5.00", "", "", payment("E-9", memo("nameless"))),
		entry("CRDT", "6.00", "B4", `<Sts>PDNG</Sts>`),
		entry("CRDT", "7.00", "B5", `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>ESDD</SubFmlyCd></Fmly></Domn></BkTxCd>`),
		entry("CRDT", "0.00", "B6", ""),
		entry("DBIT", "8.00", "B7", "", payment("SOMEONE")),
	))

	i.poll()

	got := i.got.Receipts
	want := "B1 10.00 EUR 4ZK8D2M9QX1B, B2-1 10.00 EUR FUND-4ZK8D2M9QX1B, B2-2 20.00 EUR rent for March, "
	if !strings.HasPrefix(received(got), want) || len(got) != 5 || got[3].PartnerID == got[4].PartnerID || got[3].PartnerID == "" {
		t.Fatalf("%s", received(got))
	}
	from := account.External{Type: "EUR_ACCOUNT", Currency: "EUR", Fields: map[string]string{"iban": "PT50000201231234567890154",
		"swiftCode": "CGDIPTPL"},
		Beneficiary: &account.Beneficiary{Type: account.Individual, FullName: "Ana Silva"}}
	if !reflect.DeepEqual(*got[0].Payer, from) || got[1].Payer != nil {
		t.Errorf("payers %+v, %+v", got[0].Payer, got[1].Payer)
	}
	// The bank has written the day alone, and the report in its middle.
	if !got[0].At.Equal(time.Date(2026, 3, 10, 10, 30, 0, 0, time.UTC)) || got[0].Rail != "SEPA" || !got[0].Platform.IsZero() {
		t.Errorf("%+v", got[0])
	}
	if noticed := i.notices(); noticed != "" {
		t.Error(noticed)
	}
}

func TestIncoming_PaymentsThatComeBack(t *testing.T) {
	t.Parallel()
	// A credit that returns a payment of ours is no receipt, and the payment is returned, weeks after it has settled too.
	// One that returns a payment that is not ours is money received, and is shown to operators.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", nil)
	i.send(3)
	i.put("1.xml", statusReport(i.message, "ACSC"))
	i.poll()
	d.clock.Advance(20 * 24 * time.Hour)
	returned := `<RtrInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>closed</AddtlInf></RtrInf>`
	i.put("2.xml", notification(
		entry("CRDT", "10.00", "B1", "", payment(i.id(0), returned)),
		entry("CRDT", "10.01", "B2", `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>RRTN</SubFmlyCd></Fmly></Domn></BkTxCd>`,
			payment(i.id(1))),
		entry("CRDT", "10.02", "B3", "", payment("OTHER-1", returned, memo("of another program"))),
		// A payment with our id that does not come back: from an account of ours to this one.
		entry("CRDT", "10.02", "B4", "", payment(i.id(2), memo("own"))),
	))

	i.poll()

	if got := i.states(); got != "RETURNED AC04, RETURNED, SETTLED" {
		t.Error(got)
	}
	if got := received(i.got.Receipts); got != "B4 10.02 EUR own, B3 10.02 EUR of another program" {
		t.Error(got)
	}
	if got := i.notices(); got != "UNKNOWN_PAYMENT OTHER-1 AC04" {
		t.Error(got)
	}
	outcomes := i.a.Status(t.Context(), i.payouts)
	if outcomes[0].Verdict != ports.Returned || outcomes[0].Text != "closed" || outcomes[2].Verdict != ports.Done {
		t.Errorf("%+v", outcomes)
	}
}

func TestIncoming_MoneyTakenBack(t *testing.T) {
	t.Parallel()
	// A debit that takes back money received names the receipt, though the bank repeats only what other banks have named it.
	// If several receipts have that name and amount, or none, an operator has to ask.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", nil)
	refs := func(id, transaction string) string {
		return `<TxDtls><Refs><EndToEndId>` + id + `</EndToEndId><TxId>` + transaction + `</TxId></Refs></TxDtls>`
	}
	recalled := func(text string) string {
		return strings.Replace(text, "</TxDtls>", `<RtrInf><Rsn><Cd>FRAD</Cd></Rsn></RtrInf></TxDtls>`, 1)
	}
	i.put("1.xml", notification(
		entry("CRDT", "10.00", "B1", "", refs("E-1", "T-1")),
		entry("CRDT", "20.00", "B2", "", refs("E-2", "T-2")),
		entry("CRDT", "20.00", "B3", "", refs("E-2", "T-3")),
		entry("CRDT", "30.00", "B4", "", payment("SALARY")),
		entry("CRDT", "30.00", "B5", "", payment("SALARY")),
		entry("DBIT", "10.00", "B6", "", recalled(refs("E-1", "T-1"))), // in the same file
	))
	i.poll()
	i.put("2.xml", notification(
		entry("DBIT", "20.00", "B7", "<RvslInd>", refs("E-2", "T-3")),
		entry("DBIT", "30.00", "B8", "<RvslInd>", payment("SALARY")),
		entry("DBIT", "10.01", "B9", "", recalled(refs("E-1", "T-1"))),
	))

	i.poll()

	var got []string
	for _, r := range i.got.Reversals {
		got = append(got, r.PartnerID+" of "+r.Receipt+" "+r.Code)
	}
	if text := strings.Join(got, ", "); text != "B6 of B1 FRAD, B7 of B3 " {
		t.Error(text)
	}
	if noticed := i.notices(); noticed != "CONTRADICTION B8, UNKNOWN_PAYMENT B9 FRAD" &&
		noticed != "UNKNOWN_PAYMENT B9 FRAD, CONTRADICTION B8" {
		t.Error(noticed)
	}
	if len(i.got.Receipts) != 5 {
		t.Error(received(i.got.Receipts))
	}
}

func TestIncoming_Charges(t *testing.T) {
	t.Parallel()
	// Charges of their own are fees, and so are those within a debit of ours. Those that are booked by themselves, or were
	// taken from money received, are not counted twice.
	d := openDatabase(t)
	i := d.inbox(t, "bank-eur", nil)
	i.send(1)
	charge := func(included string) string {
		return `<Chrgs><Rcrd><Amt Ccy="EUR">0.20</Amt><CdtDbtInd>DBIT</CdtDbtInd><ChrgInclInd>` + included + `</ChrgInclInd></Rcrd></Chrgs>`
	}
	fees := `<BkTxCd><Domn><Cd>ACMT</Cd><Fmly><Cd>MDOP</Cd><SubFmlyCd>CHRG</SubFmlyCd></Fmly></Domn></BkTxCd>`
	i.put("1.xml", notification(
		entry("DBIT", "2.50", "B1", fees+`<AddtlNtryInf>March</AddtlNtryInf>`),
		entry("CRDT", "1.00", "B2", fees),
		entry("DBIT", "10.20", "B3", charge("true"), payment(i.id(0))),
		entry("DBIT", "10.00", "B4", charge("false"), payment(i.id(0))),
		entry("CRDT", "9.80", "B5", charge("true")),
	))

	i.poll()

	var got []string
	for _, f := range i.got.Fees {
		got = append(got, f.PartnerID+" "+f.Amount.String()+" "+f.Memo)
	}
	if text := strings.Join(got, ", "); text != "B1 2.50 EUR March, B2 -1.00 EUR , B3/charge/1 0.20 EUR "+i.id(0) {
		t.Error(text)
	}
	if got := received(i.got.Receipts); got != "B5 9.80 EUR " {
		t.Error(got)
	}
}

func TestIncoming_Statements(t *testing.T) {
	t.Parallel()
	// A statement is passed on as it is, once, with the balance at the end of the day where the bank is, which counts only when the
	// statement is reconciled. Its entries are
	// used only if statements are what reports movements, and then notifications are not.
	d := openDatabase(t)
	balance := func(kind, amount string) string {
		return `<Bal><Tp><CdOrPrtry><Cd>` + kind + `</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` + amount +
			`</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-03-10</Dt></Dt></Bal>`
	}
	for movements, want := range map[string]string{"CAMT054": "N1 1.00 EUR n", "CAMT053": "S1 2.00 EUR s"} {
		i := d.inbox(t, "bank-"+strings.ToLower(movements), with("movements", movements))
		content := statement(balance("OPBD", "1.00"), balance("CLBD", "1234.56"), entry("CRDT", "2.00", "S1", "", payment("E", memo("s"))))
		i.put("1.xml", content)
		i.put("2.xml", notification(entry("CRDT", "1.00", "N1", "", payment("E", memo("n")))))

		i.poll()

		if got := received(i.got.Receipts); got != want {
			t.Errorf("%s: %s", movements, got)
		}
		if s := i.got.Statements; len(s) != 1 || string(s[0].Data) != content || s[0].Name != "1.xml" || s[0].Format != "CAMT053" {
			t.Errorf("%s: statements %+v", movements, s)
		}
		if b := i.got.Statements[0].Balances; len(i.got.Balances) != 0 || len(b) != 1 || b[0].Amount != euros(1234_56) ||
			!b[0].At.Equal(time.Date(2026, 3, 10, 22, 59, 59, 0, time.UTC)) {
			t.Errorf("%s: balances %+v", movements, b)
		}
	}
}

func TestIncoming_OtherAccountsAndCurrencies(t *testing.T) {
	t.Parallel()
	// What is about another account, or in a currency that the connection does not carry, is shown to operators and not
	// used. Banks write our account in several ways.
	d := openDatabase(t)
	credit := entry("CRDT", "1.00", "B1", "", payment("E", memo("x")))
	for account, ours := range map[string]bool{
		ourAccount: true, "<IBAN>DE89 3704 0044 0532 0130 00</IBAN>": true, "<Othr><Id>532013000</Id></Othr>": true,
		"<Othr><Id>0532013000</Id></Othr>":    true,
		"<IBAN>DE02120300000000202051</IBAN>": false, "<Othr><Id>000</Id></Othr>": false, "<Othr><Id>53201300</Id></Othr>": false,
	} {
		i := d.inbox(t, "bank-"+strings.ToLower(strings.Map(func(r rune) rune {
			if strings.ContainsRune("<> /", r) {
				return '-'
			}
			return r
		}, account)), nil)
		i.put("1.xml", accountReport("54", "BkToCstmrDbtCdtNtfctn", "Ntfctn", account, []string{credit}))
		i.poll()
		if noticed := i.notices(); (len(i.got.Receipts) == 1) != ours || strings.HasPrefix(noticed, "OTHER_ACCOUNT") == ours {
			t.Errorf("%s: %s; %s", account, received(i.got.Receipts), noticed)
		}
	}
	i := d.inbox(t, "bank-currency", nil)
	i.put("1.xml", notification(strings.ReplaceAll(credit, `Ccy="EUR"`, `Ccy="CHF"`),
		entry("CRDT", "2.00", "B2", "", payment("E", memo("y")))))
	i.poll()
	if got, noticed := received(i.got.Receipts), i.notices(); got != "B1 1.00 CHF x, B2 2.00 EUR y" || noticed != "OTHER_CURRENCY B1 CHF" {
		t.Errorf("%s; %s", got, noticed)
	}
}
