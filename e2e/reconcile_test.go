package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"causeway/e2e/kit"
)

// camt053Statement returns a bank's statement of today about RTP with these entries.
func camt053Statement(entries ...string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr>
<Stmt><Id>STMT-1</Id><Acct><Id><IBAN>DE02120300000000202051</IBAN></Id><Ccy>USD</Ccy></Acct>
` + strings.Join(entries, "\n") + `</Stmt></BkToCstmrStmt></Document>`
}

// camt053Entry returns an entry of such a statement; the amount has its decimals.
func camt053Entry(id, amount, side, text string) string {
	today := time.Now().UTC().Format(time.DateOnly)
	return fmt.Sprintf(
		`<Ntry><Amt Ccy="USD">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>%s</Dt></BookgDt><ValDt><Dt>%s</Dt></ValDt>
<AcctSvcrRef>%s</AcctSvcrRef><AddtlNtryInf>%s</AddtlNtryInf></Ntry>`, amount, side, today, today, id, text)
}

func formatMajor(minor int64) string { return fmt.Sprintf("%d.%02d", minor/100, minor%100) }

func TestReconciliation_SeveralAccountsAndOverride(t *testing.T) {
	t.Parallel()
	// A bank's file has two accounts, the second with a balance that its line does not lead to. It is
	// imported when the accounts are named and somebody says why the balance is right, over the API
	// and by the command.
	h := newTestEnv(t)
	today := time.Now().UTC().Format(time.DateOnly)
	balance := func(kind, amount string) string {
		return `<Bal><Tp><CdOrPrtry><Cd>` + kind + `</Cd></CdOrPrtry></Tp><Amt Ccy="USD">` + amount + `</Amt><Dt><Dt>` +
			today + `</Dt></Dt></Bal>`
	}
	statement := func(id, number, closing string) string {
		return `<Stmt><Id>` + id + `</Id><Acct><Id><Othr><Id>` + number + `</Id></Othr></Id><Ccy>USD</Ccy></Acct>` + balance("OPBD", "0.00") +
			balance("CLBD", closing) +
			camt053Entry(id, "3.0000", "DBIT", "FEE") + `</Stmt>`
	}
	file := `<?xml version="1.0" encoding="windows-1252"?><Envelope><AppHdr/><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.13"><BkToCstmrStmt>` +
		statement("S1", "111", "-3.00") + statement("S2", "222", "-4.00") + `</BkToCstmrStmt></Document></Envelope>`
	const path = "/ledger/reconciliations?accounts=111%3Drails%2FRTP%3B222%3Drails%2FACH"
	send := h.withHeader("Content-Type", "application/xml")
	for query, want := range map[string]string{
		"/ledger/reconciliations":                                "add up to -3.00 USD",
		"/ledger/reconciliations?override=x":                     "no ledger account is known for: 111 in USD, 222 in USD",
		"/ledger/reconciliations?account=rails/RTP&currency=USD": "has statements of two accounts, 111 and 222",
		"/ledger/reconciliations?account=rails/RTP":              "must be a currency code",
		path: `the statement \"S2\" of account \"222\" add up to -3.00 USD`,
	} {
		if got := send.post(query, file); got.status != 400 || !strings.Contains(string(got.body), want) {
			t.Errorf("%s: %d %s; want %s", query, got.status, got.body, want)
		}
	}
	run := send.post(path+"&override=Confirmed", file).wantStatus(201)
	run.wantValues(map[string]any{"account": "rails/ACH", "partnerAccount": "222", "override": "Confirmed", "lines": 1, "closingBalance": -400,
		"closing.ledgerBalance": 0, "closing.difference": -400, "closing.openBreaks": -300, "closing.unexplained": -100})
	other := h.get("/ledger/reconciliations/" + run.text("otherReconciliations.0")).wantStatus(200)
	other.wantValues(map[string]any{"account": "rails/RTP", "partnerAccount": "111", "lines": 1, "closingBalance": -300})
	if strings.Contains(string(other.body), "override") || !strings.Contains(run.text("mismatches.0"), "closing balance -4.00 USD") {
		t.Errorf("%s\n%s", run.body, other.body)
	}
	if again := send.post(path, file); again.status != 400 {
		t.Errorf("the same file without the reason: %d %s", again.status, again.body)
	}
	send.post("/ledger/reconciliations?override=again", file).wantStatus(200).wantValues(map[string]any{"id": run.text("id"),
		"override": "Confirmed"})

	later := filepath.Join(t.TempDir(), "later.xml")
	if err := os.WriteFile(later, []byte(strings.ReplaceAll(file, "S2", "S3")), 0o600); err != nil {
		t.Fatal(err)
	}
	out := mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "ledger", "reconcile",
		"--platform", h.platformID,
		"--file", later, "--override", "Corrected by the bank")
	for _, want := range []string{"rails/ACH, USD", "rails/RTP, USD", "unexplained", "Imported nevertheless, because: Corrected by the bank"} {
		if !strings.Contains(out, want) {
			t.Errorf("the command does not print %q:\n%s", want, out)
		}
	}
}

func TestReconciliation_OwnAccounts(t *testing.T) {
	t.Parallel()
	// A statement of the company's own bank account is compared with own/<NAME>, over the API and by the command;
	// of a file with several, each by its IBAN.
	h := newTestEnv(t)
	for account, amount := range map[string]int{"own/OPERATING": 90000, "own/TAXES": 12000} {
		h.post("/ledger/adjustments", object{"note": "Paid in",
			"entries": []object{{"debit": account, "credit": "equity/capital", "currency": "USD", "amount": amount}}}).wantStatus(201)
	}
	send := h.withHeader("Content-Type", "application/xml")
	run := send.post("/ledger/reconciliations?account=own/OPERATING&currency=USD",
		camt053Statement(camt053Entry("E1", "900.00", "CRDT", "PAID IN"), camt053Entry("E2", "5.00", "DBIT", "FEE"))).wantStatus(201)
	run.wantValues(map[string]any{"account": "own/OPERATING", "partnerAccount": "DE02120300000000202051", "matchedLines": 1,
		"breaks.0.reason": "MISSING_IN_LEDGER"})
	breaks := "/ledger/reconciliations/" + run.text("id") + "/breaks"
	resolve := breaks + "/" + h.get(breaks).wantStatus(200).text("data.0.id") + "/resolve"
	h.post(resolve, object{"note": "Fee", "against": "UNMATCHED"}).wantError(400, "INVALID_INPUT")
	h.post(resolve, object{"note": "Fee", "against": "EXPENSE"}).wantStatus(200)
	h.get("/ledger/accounts?prefix=own/OPERATING").wantStatus(200).wantValues(map[string]any{"data.0.balance": 89500})

	// The first IBAN is known by now; the second one is named, once.
	second := strings.ReplaceAll(camt053Statement(camt053Entry("T1", "120.00", "CRDT", "PAID IN")), "DE02120300000000202051",
		"DE88500105175419327931")
	statements := func(file string) string {
		return file[strings.Index(file, "<Stmt>"):strings.Index(file, "</BkToCstmrStmt>")]
	}
	first := strings.Replace(camt053Statement(camt053Entry("E3", "1.00", "CRDT", "INTEREST")), "STMT-1", "STMT-2", 1)
	file := filepath.Join(t.TempDir(), "accounts.xml")
	if err := os.WriteFile(file, []byte(strings.Replace(first, "</BkToCstmrStmt>", statements(second)+"</BkToCstmrStmt>", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
	if _, errOut, status := runCommand(t, env, "ledger", "reconcile", "--file", file); status != 1 ||
		!strings.Contains(errOut, "no ledger account is known for: DE88500105175419327931 in USD") {
		t.Errorf("an unknown IBAN: status %d, %s", status, errOut)
	}
	out := mustRunCommand(t, env, "ledger", "reconcile", "--file", file, "--accounts", "DE88500105175419327931=own/TAXES")
	if !strings.Contains(out, "own/OPERATING, USD") || !strings.Contains(out, "own/TAXES, USD") || !strings.Contains(out, "matched by ") {
		t.Errorf("printed:\n%s", out)
	}
}

func TestReconciliation_MT940(t *testing.T) {
	t.Parallel()
	// An MT940 file of two accounts becomes a reconciliation of each; an MT942 report and a page
	// without the others are refused by name.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	wallet := h.post("/customers/external-accounts", object{"customerId": customer, "currency": "BTC",
		"accountInfo": object{"accountType": "LAYER2_WALLET", "address": "spark1recon"}}).wantStatus(201).text("id")
	quote := h.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050)).wantStatus(201)
	h.post("/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": "USD", "currencyAmount": 10050}).wantStatus(200)
	day := time.Now().UTC().Format("060102")
	statement := func(account, number, opening, closing string, fields ...string) string {
		return fmt.Sprintf(
			"{1:F01BANKUS33AXXX0000000000}{2:O9400600%[1]sBANKUS33AXXX0000000000%[1]s0600N}{4:\r\n:20:REF1\r\n:25:%[2]s\r\n:28C:%[3]s\r\n:60F:C%[1]sUSD%[4]s\r\n%[6]s:62F:C%[1]sUSD%[5]s\r\n-}",
			day, account, number, opening, closing, strings.Join(fields, ""))
	}
	file := statement("DE02120300000000202051", "7/1", "0,00", "97,50",
		":61:"+day+"CD100,50NTRFNONREF//BANK1\r\n", ":86:166?00CREDIT?20EREF+"+paymentReference(quote)+"?32J\xfcrgen\r\n",
		":61:"+day+"D3,00NCHGNONREF\r\n", ":86:MONTHLY FEE\r\n") + statement("9988", "1", "5,00", "5,00")

	path := "/ledger/reconciliations?format=mt940"
	send := h.withHeader("Content-Type", "text/plain")
	if got := send.post(path+"&map="+url.QueryEscape("encoding=windows-1252"), file); got.status != 400 ||
		!strings.Contains(string(got.body), "9988 in USD") {
		t.Errorf("an unknown account: %d %s", got.status, got.body)
	}
	path += "&accounts=" + url.QueryEscape("DE02120300000000202051=rails/RTP;9988=rails/ACH")
	for name, c := range map[string]struct{ file, want string }{
		"a report of the day": {strings.Replace(file, "{2:O940", "{2:O942", 1), "is an MT942 report"},
		"a further page":      {strings.Replace(file, ":60F:", ":60M:", 1), "import the pages before it in the same file"},
		"an amount":           {strings.Replace(file, "D3,00", "D3.00", 1), "field :61: amount"},
		"a missing movement":  {strings.Replace(file, "D3,00", "D4,00", 1), "its closing balance 97.50 USD"},
	} {
		if got := send.post(path, c.file); got.status != 400 || got.text("details.errors.0.field") != "file" ||
			!strings.Contains(string(got.body), c.want) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}

	run := send.post(path, file).wantStatus(201) // its ü is that of Windows-1252
	if run.text("account") != "rails/RTP" {
		run = h.get("/ledger/reconciliations/" + run.text("otherReconciliations.0")).wantStatus(200)
	}
	run.wantValues(map[string]any{"account": "rails/RTP", "format": "mt940", "partnerAccount": "DE02120300000000202051",
		"lines": 2, "matchedLines": 1,
		"matches.0.rule": "REFERENCE_AMOUNT_DATE", "openingBalance": 0, "closingBalance": 9750, "breaks.0.reason": "MISSING_IN_LEDGER",
		"closing.ledgerBalance": 10050, "closing.difference": -300, "closing.openBreaks": -300, "closing.otherDay": 0, "closing.resolved": 0,
		"closing.unexplained": 0})
	lines := h.get("/ledger/reconciliations/" + run.text("id") + "/lines?status=MATCHED").wantStatus(200)
	if description := lines.text("data.0.description"); !strings.Contains(description, "Jürgen") {
		t.Errorf("the description is %q", description)
	}
}

func TestReconciliation_CSVOfBank(t *testing.T) {
	t.Parallel()
	// A CSV file with a preamble, a total, balances and amounts as a bank writes them is read; one
	// whose amounts could be read in two ways, or with a line less, is refused.
	h := newSharedEnv(t)
	today := time.Now().UTC().Format("02.01.2006")
	file := "Konto;123\r\n\r\nBuchung;Text;Betrag;Saldo\r\n" +
		today + " 09:15;Geb\xfchr;(1.000,50);\"8.999,50 $\"\r\n" + today + " 10:00;Miete;2,50-;8.997,00\r\nSumme;;1.003,00-;\r\n"
	path := func(settings string) string {
		return "/ledger/reconciliations?account=" + url.QueryEscape("rails/RTP") + "&currency=USD&format=csv&map=" +
			url.QueryEscape("date=Buchung;amount=Betrag;balance=Saldo;description=Text;dateFormat=DD.MM.YYYY;delimiter=semicolon"+settings)
	}
	send := h.withHeader("Content-Type", "text/csv")
	const settings = ";encoding=windows-1252;ignore=Summe"
	for name, c := range map[string]struct{ settings, file, want string }{
		"no encoding":      {";ignore=Summe", file, "line 4, column 2: is not UTF-8; name the encoding"},
		"a total":          {";encoding=windows-1252", file, "line 6, column 1 (Buchung)"},
		"thousands or not": {settings, strings.Replace(file, "2,50-", "2,500-", 1), "set decimal and group in map"},
		"a missing line":   {settings, strings.Replace(file, "8.997,00", "8.996,00", 1), "column 4 (Saldo): the amounts do not lead"},
	} {
		if got := send.post(path(c.settings), c.file); got.status != 400 || got.text("details.errors.0.field") != "file" ||
			!strings.Contains(string(got.body), c.want) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	run := send.post(path(settings), file).wantStatus(201)
	run.wantValues(map[string]any{"lines": 2, "ignoredLines": 1, "openingBalance": 1000000, "closingBalance": 899700})
	h.get("/ledger/reconciliations/" + run.text("id") + "/lines").wantStatus(200).wantValues(map[string]any{
		"data.0.amount": -100050, "data.0.description": "Gebühr", "data.1.amount": -250})
}

func TestReconciliation_ImportAndResolveBreak(t *testing.T) {
	t.Parallel()
	// A bank's statement of a day is imported: known payments are matched, the bank's fee and
	// a duplicate are breaks with their reasons, and one is resolved by a correction in the
	// ledger.
	h := newTestEnv(t)
	customer := h.createCustomer()
	wallet := h.post("/customers/external-accounts", object{"customerId": customer, "currency": "BTC",
		"accountInfo": object{"accountType": "LAYER2_WALLET", "address": "spark1recon"}}).wantStatus(201).text("id")
	var entries []string
	for n := range 3 {
		quote := h.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050+int64(n))).wantStatus(201)
		h.post("/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": "USD", "currencyAmount": 10050 + n}).wantStatus(200)
		entries = append(entries, camt053Entry(fmt.Sprintf("B%d", n), formatMajor(10050+int64(n)), "CRDT",
			"INSTANT CREDIT "+paymentReference(quote)))
		if n == 0 {
			entries = append(entries, camt053Entry("B9", formatMajor(10050), "CRDT", "INSTANT CREDIT "+paymentReference(quote)))
		}
	}
	entries = append(entries, camt053Entry("F1", "3.00", "DBIT", "MONTHLY FEE"))
	file := camt053Statement(entries...)

	path := "/ledger/reconciliations?account=" + url.QueryEscape("rails/RTP") + "&currency=USD"
	send := h.withHeader("Content-Type", "application/xml")
	run := send.post(path, file).wantStatus(201)
	run.wantValues(map[string]any{"account": "rails/RTP", "lines": 5, "knownLines": 0, "matchedLines": 3, "matchedEntries": 3,
		"partnerAccount": "DE02120300000000202051",
		"matches.0.rule": "REFERENCE_AMOUNT_DATE", "matches.0.count": 3, "breaks.0.reason": "DUPLICATE", "breaks.1.reason": "MISSING_IN_LEDGER"})
	runPath := "/ledger/reconciliations/" + run.text("id")

	// The same file again changes nothing.
	if again := send.post(path, file).wantStatus(200); again.text("id") != run.text("id") {
		t.Errorf("the same file created %s", again.body)
	}
	if n := h.queryInt("SELECT count(*) FROM reconciliation_lines"); n != 5 {
		t.Errorf("%d lines are stored, want 5", n)
	}
	lines := h.get(runPath + "/lines?status=MATCHED&limit=2").wantStatus(200)
	lines.wantValues(map[string]any{"data.0.number": 1, "data.0.amount": 10050, "data.0.status": "MATCHED",
		"data.0.entries.0.kind": "jit_received", "data.0.entries.0.amount": 10050,
		"hasMore": true, "totalCount": 3})
	h.get(runPath + "/lines?status=MATCHED&limit=2&cursor=" + lines.text("nextCursor")).wantStatus(200).wantValues(
		map[string]any{"data.0.number": 4, "hasMore": false})

	fee := h.get(runPath + "/breaks?reason=MISSING_IN_LEDGER").wantStatus(200)
	fee.wantValues(map[string]any{"totalCount": 1, "data.0.status": "OPEN", "data.0.difference": -300,
		"data.0.line.description": "MONTHLY FEE"})
	resolve := runPath + "/breaks/" + fee.text("data.0.id") + "/resolve"
	once := h.withHeader("Idempotency-Key", "fee")
	resolved := once.post(resolve, object{"note": "Monthly fee", "against": "EXPENSE"}).wantStatus(200)
	resolved.wantValues(map[string]any{"status": "RESOLVED", "resolution.method": "POSTING", "resolution.note": "Monthly fee"})
	if again := once.post(resolve, object{"note": "Monthly fee", "against": "EXPENSE"}).wantStatus(200); string(
		again.body) != string(resolved.body) {
		t.Errorf("repeated: %s", again.body)
	}
	h.post(resolve, object{"note": "again"}).wantError(409, "CONFLICT")
	if got := h.ledgerBalances(h.platformID); got["expense/rails USD"] != -300 || got["rails/RTP USD"] != -(10050+10051+10052)+300 {
		t.Errorf("the ledger has %s", got)
	}
	h.get(runPath).wantStatus(200).wantValues(map[string]any{"current.matchedLines": 3, "current.brokenLines": 1, "current.resolvedLines": 1,
		"current.openBreaks": 1, "current.resolvedBreaks": 1})

	// Invalid files are rejected as a whole, other platforms see nothing, and VIEW does not
	// allow to resolve.
	for name, bad := range map[string]string{
		"cut off": file[:len(file)-30], "a bomb": strings.Replace(file, "<Document", `<!DOCTYPE x [<!ENTITY a "b">]><Document`, 1),
		"another currency": strings.ReplaceAll(file, "USD", "EUR"), "decimals": strings.Replace(file, ">3.00<", ">3.005<", 1),
		"a day to come": strings.ReplaceAll(file, time.Now().UTC().Format(time.DateOnly),
			time.Now().AddDate(0, 0, 3).UTC().Format(time.DateOnly)),
	} {
		if got := send.post(path, bad); got.status != 400 || got.text("details.errors.0.field") != "file" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if n := h.queryInt("SELECT count(*) FROM reconciliations"); n != 1 {
		t.Errorf("%d reconciliations are stored, want 1", n)
	}
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	other.get(runPath).wantError(404, "RECONCILIATION_NOT_FOUND")
	other.get(runPath+"/lines").wantError(404, "RECONCILIATION_NOT_FOUND")
	other.get(runPath+"/breaks").wantError(404, "RECONCILIATION_NOT_FOUND")
	other.post(resolve, object{"note": "of another platform"}).wantError(404, "BREAK_NOT_FOUND")

	// The command does the same with a later statement of the day, and prints the result.
	later := filepath.Join(t.TempDir(), "later.csv")
	today := time.Now().UTC().Format(time.DateOnly)
	if err := os.WriteFile(later, []byte("Day;Sum;Note\n"+today+";-1,50;charge\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "ledger", "reconcile",
		"--platform", h.platformID, "--account", "rails/RTP", "--currency", "USD",
		"--format", "csv", "--map", "date=Day;amount=Sum;description=Note;decimal=,;delimiter=semicolon", "--file", later)
	for _, want := range []string{"break MISSING_IN_LEDGER", "-1.50", "ledger balance"} {
		if !strings.Contains(out, want) {
			t.Errorf("the command does not print %q:\n%s", want, out)
		}
	}
	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
	listed := mustRunCommand(t, env, "ledger", "breaks", "list", "--platform", h.platformID, "--account", "rails/RTP", "--reason",
		"MISSING_IN_LEDGER")
	charge := regexp.MustCompile(`Break:\S+`).FindString(listed)
	if charge == "" || !strings.Contains(listed, "-1.50  USD") || strings.Contains(listed, "resolved") {
		t.Errorf("ledger breaks list prints\n%s", listed)
	}
	table := mustRunCommand(t, env, "ledger", "breaks", "list", "--platform", h.platformID, "--reconciliation", run.text("id"), "--status",
		"all", "--output", "csv")
	if served := h.get(runPath + "/breaks?format=csv").wantStatus(200); table != string(served.body) || strings.Count(table, "\r\n") != 3 ||
		!strings.HasPrefix(table, "break_id,") {
		t.Errorf("breaks as CSV:\n%s\nfrom the API:\n%s", table, served.body)
	}
	if shown := mustRunCommand(t, env, "ledger", "breaks", "show", charge, "--platform", h.platformID); !strings.Contains(shown,
		"The statement has -1.50 USD on "+today) || !strings.Contains(shown, "open") {
		t.Errorf("ledger breaks show prints\n%s", shown)
	}
	if done := mustRunCommand(t, env, "ledger", "breaks", "resolve", charge, "--platform", h.platformID, "--note", "Charged twice a month",
		"--against", "EXPENSE", "--actor", "ana"); !strings.Contains(done, "-1.50 USD was posted against EXPENSE") {
		t.Errorf("ledger breaks resolve prints\n%s", done)
	}
	if shown := mustRunCommand(t, env, "ledger", "breaks", "show", charge, "--platform", h.platformID); !strings.Contains(shown,
		"POSTING by operator ana") {
		t.Errorf("ledger breaks show prints\n%s", shown)
	}
	if got := h.ledgerBalances(h.platformID); got["expense/rails USD"] != -450 {
		t.Errorf("after the command the ledger has %v", got)
	}
	_, errOut, status := runCommand(t, env, "ledger", "breaks", "resolve", charge, "--platform", h.platformID, "--note", "again")
	if status != 1 || !strings.Contains(errOut, "already resolved") {
		t.Errorf("resolved again: status %d, %s", status, errOut)
	}
	_, errOut, status = runCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "reconcile", "--platform", h.platformID,
		"--account", "rails/NOPE", "--currency", "USD", "--file", later)
	if status != 1 || !strings.Contains(errOut, "--account is rails/NOPE, which does not exist") || !strings.Contains(errOut, "rails/RTP") {
		t.Errorf("an unknown account: status %d, %s", status, errOut)
	}
	_, errOut, status = runCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "reconcile", "--account", "rails/RTP", "--currency",
		"USD", "--file", later)
	if status != 1 || !strings.Contains(errOut, "--platform") {
		t.Errorf("two platforms and no --platform: status %d, %s", status, errOut)
	}
}
