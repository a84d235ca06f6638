package bankfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/bankfile"
	"causeway/core/bankorder"
	"causeway/core/rail"
	"causeway/ports"
)

// inbox is a connection whose bank puts files down.
type inbox struct {
	database
	*bank
	t          testing.TB
	connection rail.Connection
	a          *adapter
	cursor     string
	got        ports.RailReport // all that was reported
	payouts    []ports.Payout
	message    string // of the file with the payouts
	files      int
}

func (d database) inbox(t testing.TB, name string, change func(*rail.Connection)) *inbox {
	t.Helper()
	i := &inbox{database: d, bank: newBank(t), t: t}
	i.connection = europe(name, i.dir)
	if change != nil {
		change(&i.connection)
	}
	i.a = i.open(t, i.connection, i.Store, folderTransport(t, i.dir))
	return i
}

func with(settings ...string) func(*rail.Connection) {
	return func(c *rail.Connection) {
		for n := 0; n < len(settings); n += 2 {
			c.Settings[settings[n]] = settings[n+1]
		}
	}
}

var messageRegexp = regexp.MustCompile(`<MsgId>([^<]+)</MsgId>`)

// send sends payouts, and lets the bank take their file.
func (i *inbox) send(n int) {
	i.t.Helper()
	for p := range n {
		i.payouts = append(i.payouts, i.payout(i.connection.Name, p, i.connection.Rails[0]))
	}
	if outcomes := i.a.Send(i.t.Context(), i.payouts); !waiting(outcomes) {
		i.t.Fatalf("%+v", outcomes)
	}
	i.database.clock.Advance(time.Hour)
	i.poll()
	if err := i.take(); err != nil {
		i.t.Fatal(err)
	}
	for _, contents := range i.taken {
		if found := messageRegexp.FindStringSubmatch(contents[0]); found != nil {
			i.message = found[1]
		}
	}
}

// id returns the end-to-end id of a payout.
func (i *inbox) id(n int) string { return rail.EndToEndID(i.payouts[n].Transaction.ID.UUID()) }

// put lets the bank put a file down, a minute after the last one.
func (i *inbox) put(name, content string) {
	i.t.Helper()
	i.files++
	path := filepath.Join(i.dir, "in", name)
	at := noon.Add(time.Duration(i.files) * time.Minute)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		i.t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		i.t.Fatal(err)
	}
}

// poll polls until there is no more.
func (i *inbox) poll() {
	i.t.Helper()
	for range 10_000 {
		report, err := i.a.Poll(i.t.Context(), i.cursor)
		if err := errors.Join(err, report.Problem); err != nil {
			i.t.Fatal(err)
		}
		i.add(report)
		if i.cursor = report.Cursor; !report.More {
			return
		}
	}
	i.t.Fatal("the bank's files do not end")
}

func (i *inbox) add(r ports.RailReport) {
	i.got.Receipts = append(i.got.Receipts, r.Receipts...)
	i.got.Reversals = append(i.got.Reversals, r.Reversals...)
	i.got.Changed = append(i.got.Changed, r.Changed...)
	i.got.Fees = append(i.got.Fees, r.Fees...)
	i.got.Balances = append(i.got.Balances, r.Balances...)
	i.got.Statements = append(i.got.Statements, r.Statements...)
	i.got.Contradictions = append(i.got.Contradictions, r.Contradictions...)
	i.got.Raw = append(i.got.Raw, r.Raw...)
}

// aside returns the places of the files that were kept aside, in their order.
func (i *inbox) aside() string {
	var places []string
	for _, raw := range i.got.Raw {
		places = append(places, raw.Place)
	}
	slices.Sort(places)
	return strings.Join(places, ", ")
}

// states returns the states of the payouts, with the codes of the bank.
func (i *inbox) states() string {
	i.t.Helper()
	keys := make([]bankfile.OrderKey, len(i.payouts))
	for n, p := range i.payouts {
		keys[n] = bankfile.OrderKey{Platform: i.platform, ID: bankorder.IDOf(bankorder.Payout, p.Transaction.ID.UUID())}
	}
	orders, err := i.OrdersByKey(i.t.Context(), keys)
	if err != nil {
		i.t.Fatal(err)
	}
	states := make([]string, len(keys))
	for n, key := range keys {
		states[n] = strings.TrimSpace(string(orders[key].State) + " " + orders[key].Code)
	}
	return strings.Join(states, ", ")
}

// notices returns the kinds and names of the notices, oldest first.
func (i *inbox) notices() string {
	i.t.Helper()
	found, err := i.Notices(i.t.Context(), i.connection.Name, 1000)
	if err != nil {
		i.t.Fatal(err)
	}
	var texts []string
	for n := len(found) - 1; n >= 0; n-- {
		texts = append(texts, strings.TrimSpace(fmt.Sprintf("%s %s %s", found[n].Kind, found[n].Name, found[n].Code)))
	}
	return strings.Join(texts, ", ")
}

// left returns the names of the files in a folder.
func (i *inbox) left(folder string) string {
	i.t.Helper()
	entries, err := os.ReadDir(filepath.Join(i.dir, folder))
	if err != nil {
		i.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, ", ")
}

// statusReport is a pain.002 about a file of ours, with a status of the file or none, and those of transfers.
func statusReport(message, group string, transfers ...string) string {
	if group != "" {
		code, reason, _ := strings.Cut(group, " ")
		group = "<GrpSts>" + code + "</GrpSts>" + reasonXML(reason)
	}
	return `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>` +
		`<GrpHdr><MsgId>S1</MsgId><CreDtTm>2026-03-10T11:00:00Z</CreDtTm></GrpHdr>` +
		`<OrgnlGrpInfAndSts><OrgnlMsgId>` + message + `</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>` + group +
		`</OrgnlGrpInfAndSts>` +
		`<OrgnlPmtInfAndSts><OrgnlPmtInfId>` + message + `</OrgnlPmtInfId>` + strings.Join(transfers, "") +
		`</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`
}

func reasonXML(code string) string {
	if code == "" {
		return ""
	}
	return "<StsRsnInf><Rsn><Cd>" + code + "</Cd></Rsn></StsRsnInf>"
}

// transfer is the status of a transfer, such as "RJCT AC04".
func transfer(id, status string) string {
	code, reason, _ := strings.Cut(status, " ")
	return "<TxInfAndSts><OrgnlEndToEndId>" + id + "</OrgnlEndToEndId><TxSts>" + code + "</TxSts>" + reasonXML(reason) + "</TxInfAndSts>"
}

const ourAccount = "<IBAN>DE89370400440532013000</IBAN>"

// notification is a camt.054 with entries, and statement a camt.053.
func notification(entries ...string) string {
	return accountReport("54", "BkToCstmrDbtCdtNtfctn", "Ntfctn", ourAccount, entries)
}

func statement(entries ...string) string {
	return accountReport("53", "BkToCstmrStmt", "Stmt", ourAccount, entries)
}

func accountReport(kind, message, report, account string, content []string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.0` + kind +
		`.001.08"><` + message + `>` +
		`<GrpHdr><MsgId>N1</MsgId><CreDtTm>2026-03-10T10:30:00Z</CreDtTm></GrpHdr><` + report + `><Id>R1</Id><Acct><Id>` +
		account + `</Id></Acct>` +
		strings.Join(content, "") + `</` + report + `></` + message + `></Document>`
}

// entry is an entry of the account: side is CRDT or DBIT, and details are those of its payments.
func entry(side, amount, reference string, more string, details ...string) string {
	text := `<Ntry><Amt Ccy="EUR">` + amount + `</Amt><CdtDbtInd>` + side + `</CdtDbtInd>`
	if strings.Contains(more, "<RvslInd>") {
		text += `<RvslInd>true</RvslInd>`
		more = strings.ReplaceAll(more, "<RvslInd>", "")
	}
	if !strings.Contains(more, "<Sts>") {
		text += `<Sts><Cd>BOOK</Cd></Sts>`
	}
	text += `<BookgDt><Dt>2026-03-10</Dt></BookgDt>`
	if reference != "" {
		text += `<AcctSvcrRef>` + reference + `</AcctSvcrRef>`
	}
	text += more
	if len(details) > 0 {
		text += `<NtryDtls>` + strings.Join(details, "") + `</NtryDtls>`
	}
	return text + `</Ntry>`
}

// payment is a payment of an entry: its end-to-end id, and more elements.
func payment(id string, more ...string) string {
	return `<TxDtls><Refs><EndToEndId>` + id + `</EndToEndId></Refs>` + strings.Join(more, "") + `</TxDtls>`
}

func memo(text string) string { return `<RmtInf><Ustrd>` + text + `</Ustrd></RmtInf>` }
