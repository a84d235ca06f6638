package bankfile_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/moov-io/ach"

	"causeway/core/money"
)

// bankOrder is a payment as a bank has it.
type bankOrder struct {
	message, id, key, trace string
	amount                  money.Amount
	debit                   bool
	executed                bool
	days                    int // for how often the bank has worked since it came
}

// parseOrders reads what a bank reads in a file of ours.
func parseOrders(name, content string) ([]*bankOrder, error) {
	if strings.HasSuffix(name, ".ach") {
		return parseACHOrders(content)
	}
	var document struct {
		Message string `xml:"CstmrCdtTrfInitn>GrpHdr>MsgId"`
		Count   int    `xml:"CstmrCdtTrfInitn>GrpHdr>NbOfTxs"`
		Orders  []struct {
			ID     string `xml:"PmtId>EndToEndId"`
			Amount struct {
				Currency string `xml:"Ccy,attr"`
				Text     string `xml:",chardata"`
			} `xml:"Amt>InstdAmt"`
		} `xml:"CstmrCdtTrfInitn>PmtInf>CdtTrfTxInf"`
	}
	if err := xml.Unmarshal([]byte(content), &document); err != nil {
		return nil, err
	}
	var orders []*bankOrder
	for _, o := range document.Orders {
		cents, err := strconv.ParseInt(strings.Replace(o.Amount.Text, ".", "", 1), 10, 64)
		if err != nil {
			return nil, err
		}
		orders = append(orders, &bankOrder{message: document.Message, id: o.ID,
			amount: money.Amount{Minor: cents, Currency: money.Currency(o.Amount.Currency)}})
	}
	if len(orders) != document.Count {
		return nil, fmt.Errorf("the file says that it has %d transfers, and has %d", document.Count, len(orders))
	}
	return orders, nil
}

func parseACHOrders(content string) ([]*bankOrder, error) {
	file, err := ach.NewReader(strings.NewReader(content)).Read()
	if err != nil {
		return nil, err
	}
	var orders []*bankOrder
	for _, batch := range file.Batches {
		for _, e := range batch.GetEntries() {
			debit := e.TransactionCode == ach.CheckingDebit || e.TransactionCode == ach.SavingsDebit
			orders = append(orders, &bankOrder{id: strings.TrimSpace(e.Addenda05[0].PaymentRelatedInformation),
				key:   strings.TrimSpace(e.IdentificationNumber),
				trace: e.TraceNumber, amount: money.Amount{Minor: int64(e.Amount), Currency: "USD"}, debit: debit})
		}
	}
	return orders, nil
}

// statusOf returns a pain.002 with one status of a transfer.
func statusOf(id string, o *bankOrder, status, code string, at time.Time) string {
	reason := ""
	if code != "" {
		reason = "<StsRsnInf><Rsn><Cd>" + code + "</Cd></Rsn></StsRsnInf>"
	}
	partner := ""
	if status == "ACSC" {
		partner = "<AcctSvcrRef>BANK-" + o.id[24:] + "</AcctSvcrRef>"
	}
	return `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><GrpHdr><MsgId>` + id +
		`</MsgId><CreDtTm>` + at.Format(time.RFC3339) + `</CreDtTm></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>` + o.message +
		`</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId></OrgnlGrpInfAndSts>
		<OrgnlPmtInfAndSts><OrgnlPmtInfId>` + o.message + `</OrgnlPmtInfId><TxInfAndSts><OrgnlEndToEndId>` + o.id + `</OrgnlEndToEndId><TxSts>` +
		status + `</TxSts>` + reason + partner +
		`</TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`
}

// returnNotification returns a camt.054 with the credit of a transfer that came back.
func returnNotification(id string, o *bankOrder, code string, at time.Time) string {
	amount := `<Amt Ccy="` + string(o.amount.Currency) + `">` + money.TotalOf(o.amount.Minor).Major(o.amount.Currency) +
		`</Amt><CdtDbtInd>CRDT</CdtDbtInd>`
	return `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>` + id +
		`</MsgId><CreDtTm>` + at.Format(time.RFC3339) + `</CreDtTm></GrpHdr><Ntfctn><Id>` + id +
		`</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>
		<Ntry>` + amount + `<Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>` + at.Format(time.RFC3339) + `</DtTm></BookgDt><AcctSvcrRef>RT-` +
		o.id[24:] + `</AcctSvcrRef>
		<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>RRTN</SubFmlyCd></Fmly></Domn></BkTxCd>
		<NtryDtls><TxDtls><Refs><EndToEndId>` + o.id + `</EndToEndId></Refs>` + amount + `<RtrInf><Rsn><Cd>` + code +
		`</Cd></Rsn></RtrInf></TxDtls></NtryDtls></Ntry></Ntfctn></BkToCstmrDbtCdtNtfctn></Document>`
}

// returnedFile returns a Nacha file with the return of an entry.
func returnedFile(number int, o *bankOrder, code string, at time.Time) (string, error) {
	file := ach.NewFile()
	header := ach.NewFileHeader()
	header.ImmediateDestination, header.ImmediateOrigin, header.FileCreationDate, header.FileCreationTime = "121042882", "021000021",
		at.Format("060102"), at.Format("1504")
	header.FileIDModifier = "A"
	file.SetHeader(header)
	h := ach.NewBatchHeader()
	h.ServiceClassCode, h.CompanyName, h.CompanyIdentification, h.StandardEntryClassCode = ach.MixedDebitsAndCredits, "CAUSEWAY",
		"1234567890", ach.PPD
	h.CompanyEntryDescription, h.ODFIIdentification = "PAYMENT", "02100002"
	batch, err := ach.NewBatch(h)
	if err != nil {
		return "", err
	}
	d := ach.NewEntryDetail()
	d.TransactionCode, d.Amount, d.DFIAccountNumber, d.IndividualName, d.IdentificationNumber = ach.CheckingReturnNOCCredit,
		int(o.amount.Minor), "123456789", "Ana Silva", o.key
	if o.debit {
		d.TransactionCode = ach.CheckingReturnNOCDebit
	}
	d.SetRDFI("121042882")
	d.TraceNumber, d.AddendaRecordIndicator, d.Category = fmt.Sprintf("02100002%07d", number), 1, ach.CategoryReturn
	d.Addenda99 = ach.NewAddenda99()
	d.Addenda99.ReturnCode, d.Addenda99.OriginalTrace, d.Addenda99.OriginalDFI, d.Addenda99.TraceNumber = code, o.trace,
		"02100002", d.TraceNumber
	batch.AddEntry(d)
	if err := batch.Create(); err != nil {
		return "", err
	}
	file.AddBatch(batch)
	if err := file.Create(); err != nil {
		return "", err
	}
	var text bytes.Buffer
	writer := ach.NewWriter(&text)
	writer.BypassValidation = true
	err = writer.Write(file)
	return text.String(), err
}

// put puts a file down for us, in one step.
func (b *bank) put(name, content string) error {
	temporary := filepath.Join(b.dir, name)
	if err := os.WriteFile(temporary, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(b.dir, "in", name))
}
