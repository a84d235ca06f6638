// Package banktest simulates a bank that takes pain.001 files from a folder, and puts pain.002, camt.054 and camt.053 files
// into another. It keeps what it knows in memory.
package banktest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The folders of the bank, in its own.
const (
	Outgoing = "out"     // from the customer of the bank
	Incoming = "in"      // to the customer
	Archive  = "archive" // where the customer moves what it has read
)

// Bank is a bank with one account in euro, which begins empty.
type Bank struct {
	folder, iban string
	now          func() time.Time

	mu        sync.Mutex
	files     int
	orders    []Order
	movements []Movement // since the last statement
	balance   int64      // in cents
}

// Order is a payment that the bank was given.
type Order struct {
	EndToEndID, MessageID string
	Cents                 int64
	IBAN, Name, Text      string
}

// Status is what the bank says about an order. Its code is one of ISO 20022, such as ACSC or RJCT.
type Status struct {
	EndToEndID, Code, Reason string
}

// Movement is an entry on the account.
type Movement struct {
	// Reference is the bank's id of it.
	Reference  string
	Credit     bool
	Cents      int64
	EndToEndID string
	// ReturnCode is the reason for which the payment came back; empty for others.
	ReturnCode string
	// Name and IBAN are of the payer of a credit, and Text is what the payer wrote.
	Name, IBAN, Text string
}

// New makes the folders of a bank.
func New(folder, iban string, now func() time.Time) (*Bank, error) {
	for _, name := range []string{Outgoing, Incoming, Archive} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
			return nil, err
		}
	}
	return &Bank{folder: folder, iban: iban, now: now}, nil
}

// initiation is what is read of a pain.001.
type initiation struct {
	MessageID string `xml:"CstmrCdtTrfInitn>GrpHdr>MsgId"`
	Blocks    []struct {
		Transfers []struct {
			EndToEndID string `xml:"PmtId>EndToEndId"`
			Amount     string `xml:"Amt>InstdAmt"`
			Name       string `xml:"Cdtr>Nm"`
			IBAN       string `xml:"CdtrAcct>Id>IBAN"`
			Text       string `xml:"RmtInf>Ustrd"`
		} `xml:"CdtTrfTxInf"`
	} `xml:"CstmrCdtTrfInitn>PmtInf"`
}

// Take takes the files that have their final name, and returns their orders.
func (b *Bank) Take() ([]Order, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entries, err := os.ReadDir(filepath.Join(b.folder, Outgoing))
	if err != nil {
		return nil, err
	}
	var taken []Order
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".xml") {
			continue
		}
		name := filepath.Join(b.folder, Outgoing, entry.Name())
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := errors.Join(err, os.Remove(name)); err != nil {
			return nil, err
		}
		orders, err := ordersOf(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		taken = append(taken, orders...)
	}
	b.orders = append(b.orders, taken...)
	return taken, nil
}

func ordersOf(content []byte) ([]Order, error) {
	var file initiation
	if err := xml.Unmarshal(content, &file); err != nil {
		return nil, err
	}
	var orders []Order
	for _, block := range file.Blocks {
		for _, t := range block.Transfers {
			cents, err := centsOf(t.Amount)
			if err != nil {
				return nil, err
			}
			orders = append(orders, Order{EndToEndID: t.EndToEndID, MessageID: file.MessageID, Cents: cents, IBAN: t.IBAN,
				Name: t.Name, Text: t.Text})
		}
	}
	return orders, nil
}

func centsOf(amount string) (int64, error) {
	whole, fraction, _ := strings.Cut(amount, ".")
	return strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
}

func amountOf(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// Orders returns all orders that the bank was given, each as often as it was.
func (b *Bank) Orders() []Order {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Order(nil), b.orders...)
}

// Balance returns what is on the account.
func (b *Bank) Balance() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.balance
}

// Report puts a pain.002 down about orders of a message.
func (b *Bank) Report(messageID string, statuses ...Status) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var text strings.Builder
	for _, s := range statuses {
		fmt.Fprintf(&text, "<TxInfAndSts><OrgnlEndToEndId>%s</OrgnlEndToEndId><TxSts>%s</TxSts>", escape(s.EndToEndID), escape(s.Code))
		if s.Reason != "" {
			fmt.Fprintf(&text, "<StsRsnInf><Rsn><Cd>%s</Cd></Rsn></StsRsnInf>", escape(s.Reason))
		}
		fmt.Fprintf(&text, "<AcctSvcrRef>BANK-%s</AcctSvcrRef></TxInfAndSts>", escape(s.EndToEndID[max(0, len(s.EndToEndID)-12):]))
	}
	return b.put(
		"pain.002", fmt.Sprintf(
			`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><GrpHdr><MsgId>%s</MsgId><CreDtTm>%s</CreDtTm></GrpHdr>`+
				`<OrgnlGrpInfAndSts><OrgnlMsgId>%s</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId></OrgnlGrpInfAndSts>`+
				`<OrgnlPmtInfAndSts><OrgnlPmtInfId>%[3]s</OrgnlPmtInfId>%[4]s</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`,
			b.id("S"), b.time(), escape(messageID), text.String()))
}

// Book books movements, and puts a camt.054 down about them.
func (b *Bank) Book(movements ...Movement) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.movements = append(b.movements, movements...)
	for _, m := range movements {
		if m.Credit {
			b.balance += m.Cents
		} else {
			b.balance -= m.Cents
		}
	}
	return b.put(
		"camt.054", fmt.Sprintf(
			`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>%s</MsgId><CreDtTm>%s</CreDtTm></GrpHdr>`+
				`<Ntfctn><Id>%[1]s</Id><CreDtTm>%[2]s</CreDtTm>%[3]s%[4]s</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>`, b.id("N"),
			b.time(), b.account(),
			b.entries(movements)))
}

// State puts a camt.053 down with what was booked since the last one.
func (b *Bank) State() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	opening := b.balance
	for _, m := range b.movements {
		if m.Credit {
			opening -= m.Cents
		} else {
			opening += m.Cents
		}
	}
	movements := b.movements
	b.movements = nil
	return b.put(
		"camt.053", fmt.Sprintf(
			`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>%s</MsgId><CreDtTm>%s</CreDtTm></GrpHdr>`+
				`<Stmt><Id>%[1]s</Id><CreDtTm>%[2]s</CreDtTm>%[3]s%[4]s%[5]s%[6]s</Stmt></BkToCstmrStmt></Document>`,
			b.id("D"), b.time(), b.account(), b.balanceOf("OPBD", opening), b.balanceOf("CLBD", b.balance), b.entries(movements)))
}

func (b *Bank) account() string {
	return "<Acct><Id><IBAN>" + b.iban + "</IBAN></Id><Ccy>EUR</Ccy></Acct>"
}

func (b *Bank) balanceOf(code string, cents int64) string {
	return fmt.Sprintf(
		`<Bal><Tp><CdOrPrtry><Cd>%s</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Dt><DtTm>%s</DtTm></Dt></Bal>`,
		code, amountOf(max(cents, -cents)), direction(cents >= 0), b.time())
}

func direction(credit bool) string {
	if credit {
		return "CRDT"
	}
	return "DBIT"
}

// entries has a transaction code for each: a credit transfer received, issued, or returned.
func (b *Bank) entries(movements []Movement) string {
	var text strings.Builder
	for _, m := range movements {
		family, sub := "ICDT", "ESCT"
		switch {
		case m.ReturnCode != "":
			sub = "RRTN"
		case m.Credit:
			family = "RCDT"
		}
		fmt.Fprintf(
			&text, `<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>%s</DtTm></BookgDt><AcctSvcrRef>%s</AcctSvcrRef>`+
				`<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>%s</Cd><SubFmlyCd>%s</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>%[4]s</AcctSvcrRef>%[7]s</Refs>`+
				`<Amt Ccy="EUR">%[1]s</Amt><CdtDbtInd>%[2]s</CdtDbtInd>`, amountOf(m.Cents), direction(m.Credit), b.time(), escape(m.Reference), family,
			sub, optional("EndToEndId", m.EndToEndID))
		if m.Credit && m.ReturnCode == "" && m.IBAN != "" {
			fmt.Fprintf(&text, "<RltdPties><Dbtr><Pty><Nm>%s</Nm></Pty></Dbtr><DbtrAcct><Id><IBAN>%s</IBAN></Id></DbtrAcct></RltdPties>",
				escape(m.Name), escape(m.IBAN))
		}
		text.WriteString(optional("RmtInf", optional("Ustrd", m.Text)))
		if m.ReturnCode != "" {
			fmt.Fprintf(&text, "<RtrInf><Rsn><Cd>%s</Cd></Rsn></RtrInf>", escape(m.ReturnCode))
		}
		text.WriteString("</TxDtls></NtryDtls></Ntry>")
	}
	return text.String()
}

// optional returns an element, or nothing without content. The content of an inner one is escaped already.
func optional(name, content string) string {
	if content == "" {
		return ""
	}
	if !strings.HasPrefix(content, "<") {
		content = escape(content)
	}
	return "<" + name + ">" + content + "</" + name + ">"
}

func escape(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // a buffer takes everything
	return out.String()
}

func (b *Bank) time() string { return b.now().UTC().Format("2006-01-02T15:04:05.000Z") }

// id numbers the files of the bank.
func (b *Bank) id(prefix string) string {
	b.files++
	return fmt.Sprintf("%s-%06d", prefix, b.files)
}

// put puts a file down, which appears with all of its content.
func (b *Bank) put(kind, content string) error {
	name := filepath.Join(b.folder, Incoming, fmt.Sprintf("%06d.%s.xml", b.files, kind))
	if err := os.WriteFile(name+".part", []byte(`<?xml version="1.0" encoding="UTF-8"?>`+"\n"+content+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".part", name)
}
