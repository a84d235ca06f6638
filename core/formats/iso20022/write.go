package iso20022

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"causeway/core/money"
)

// Written is what a file contains, as its header says.
type Written struct {
	Count int
	// ControlSum is the sum of all amounts in major units, whatever their currencies.
	ControlSum string
}

// Write writes a file of credit transfers. It keeps one transfer in memory at a time; the same initiation always gives
// the same bytes. After an error, what was written is not a file: discard it.
func Write(w io.Writer, i Initiation) (Written, error) {
	blocks, header, err := prepare(i)
	if err != nil {
		return Written{}, err
	}
	x := &xmlWriter{w: bufio.NewWriterSize(w, 1<<16), text: cut}
	x.raw(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	x.raw(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>` + "\n")
	x.open("GrpHdr")
	x.element("MsgId", i.MessageID)
	x.element("CreDtTm", i.CreatedAt.UTC().Format(time.RFC3339))
	x.element("NbOfTxs", strconv.Itoa(header.Count))
	x.element("CtrlSum", header.ControlSum)
	x.party("InitgPty", Party{Name: i.Initiator.Name, OrganisationID: i.Initiator.OrganisationID,
		OrganisationScheme: i.Initiator.OrganisationScheme}, maxNameSEPA)
	x.close("GrpHdr")
	x.raw("\n")
	for _, b := range blocks {
		if err := b.write(x); err != nil {
			return Written{}, fmt.Errorf("block %q: %w", b.ID, err)
		}
	}
	x.raw("</CstmrCdtTrfInitn></Document>\n")
	return header, x.flush()
}

// countedBlock is a block whose totals are known.
type countedBlock struct {
	Block
	totals     Totals
	controlSum string
}

// prepare checks an initiation, and counts the transfers of blocks without totals.
func prepare(i Initiation) ([]countedBlock, Written, error) {
	if err := cmp.Or(checkID("message id", i.MessageID), checkParty("initiating party", i.Initiator)); err != nil {
		return nil, Written{}, err
	}
	switch {
	case !hasYearOfFourDigits(i.CreatedAt):
		return nil, Written{}, errors.New("the file has no time of creation")
	case len(i.Blocks) == 0:
		return nil, Written{}, errors.New("the file has no block")
	}
	var header Written
	var sum controlSum
	blocks, seen := make([]countedBlock, len(i.Blocks)), map[string]bool{}
	for n, b := range i.Blocks {
		counted, err := b.count()
		switch {
		case err != nil:
			return nil, Written{}, fmt.Errorf("block %q: %w", b.ID, err)
		case seen[b.ID]:
			return nil, Written{}, fmt.Errorf("block %q: another block has the same id", b.ID)
		}
		if err := sum.add(counted.totals.Sum, b.Currency); err != nil {
			return nil, Written{}, fmt.Errorf("block %q: %w", b.ID, err)
		}
		header.Count += counted.totals.Count
		blocks[n], seen[b.ID] = counted, true
	}
	var err error
	header.ControlSum, err = sum.text()
	return blocks, header, err
}

func (b Block) count() (countedBlock, error) {
	result := countedBlock{Block: b}
	if err := b.check(); err != nil {
		return result, err
	}
	if b.Totals != nil {
		result.totals = *b.Totals
	} else {
		for t, err := range b.Transfers {
			if err != nil {
				return result, err
			}
			result.totals.add(t.Amount)
		}
	}
	if result.totals.Count < 1 {
		return result, errors.New("it has no transfers")
	}
	var sum controlSum
	if err := sum.add(result.totals.Sum, b.Currency); err != nil {
		return result, err
	}
	var err error
	result.controlSum, err = sum.text()
	return result, err
}

func (t *Totals) add(amount money.Amount) {
	t.Count++
	t.Sum = t.Sum.Add(money.TotalOf(amount.Minor))
}

func (b countedBlock) write(x *xmlWriter) error {
	b.writeHeader(x)
	var written Totals
	for t, err := range b.Transfers {
		if err == nil {
			err = b.CheckTransfer(t)
		}
		if err != nil {
			return err
		}
		if written.add(t.Amount); written.Count > b.totals.Count {
			break
		}
		b.writeTransfer(x, t)
		if x.err != nil {
			return x.err
		}
	}
	if written.Count != b.totals.Count || !written.Sum.Equal(b.totals.Sum) {
		return fmt.Errorf(
			"its transfers are not those that were counted: %d with a sum of %s %s, and its header says %d and %s: call Write again",
			written.Count, written.Sum.Major(b.Currency), b.Currency, b.totals.Count, b.totals.Sum.Major(b.Currency))
	}
	x.close("PmtInf")
	x.raw("\n")
	return x.err
}

func (b countedBlock) writeHeader(x *xmlWriter) {
	x.open("PmtInf")
	x.element("PmtInfId", b.ID)
	x.element("PmtMtd", "TRF")
	x.element("BtchBookg", strconv.FormatBool(!b.SingleBooking))
	x.element("NbOfTxs", strconv.Itoa(b.totals.Count))
	x.element("CtrlSum", b.controlSum)
	b.writePaymentType(x)
	x.open("ReqdExctnDt")
	x.element("Dt", b.ExecuteOn.Format(time.DateOnly))
	x.close("ReqdExctnDt")
	x.party("Dbtr", b.Debtor, b.Scheme.nameLength())
	x.account("DbtrAcct", b.DebtorAccount)
	agent := b.DebtorAgent
	if b.Scheme.isSEPA() {
		agent = Agent{BIC: agent.BIC}
	}
	x.agent("DbtrAgt", agent, "NOTPROVIDED") // as SEPA has it: it is found by the IBAN
	switch {
	case b.Scheme.isSEPA():
		x.element("ChrgBr", "SLEV")
	case b.ChargeBearer == "":
		x.element("ChrgBr", "SHAR")
	default:
		x.element("ChrgBr", b.ChargeBearer)
	}
	if b.ChargesAccount != nil {
		x.account("ChrgsAcct", *b.ChargesAccount)
	}
	x.raw("\n")
}

func (b countedBlock) writePaymentType(x *xmlWriter) {
	priority, level, instrument := "", "SEPA", ""
	switch b.Scheme {
	case SEPA:
	case SEPAInstant:
		instrument = "INST"
	case Wire:
		priority, level = "HIGH", "URGP"
	case CrossBorder:
		priority, level = "NORM", "NURG"
	}
	x.open("PmtTpInf")
	x.element("InstrPrty", priority)
	x.code("SvcLvl", level)
	x.code("LclInstrm", instrument)
	x.close("PmtTpInf")
}

func (b countedBlock) writeTransfer(x *xmlWriter, t Transfer) {
	if b.Scheme.isSEPA() {
		t = t.forSEPA()
	}
	x.open("CdtTrfTxInf")
	x.open("PmtId")
	x.element("InstrId", t.InstructionID)
	x.element("EndToEndId", t.EndToEndID)
	x.element("UETR", t.UETR)
	x.close("PmtId")
	x.raw(`<Amt><InstdAmt Ccy="` + string(t.Amount.Currency) + `">` + money.TotalOf(t.Amount.Minor).Major(t.Amount.Currency) +
		"</InstdAmt></Amt>")
	if t.UltimateDebtor != nil {
		x.party("UltmtDbtr", *t.UltimateDebtor, b.Scheme.nameLength())
	}
	if t.CreditorAgent.BIC != "" || t.CreditorAgent.MemberID != "" {
		x.agent("CdtrAgt", t.CreditorAgent, "")
	}
	x.party("Cdtr", t.Creditor, b.Scheme.nameLength())
	x.account("CdtrAcct", t.CreditorAccount)
	x.code("Purp", t.Purpose)
	switch text := cut(t.Remittance, maxRemittance); {
	case t.Reference != "":
		x.raw("<RmtInf><Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry>")
		if strings.HasPrefix(t.Reference, "RF") {
			x.element("Issr", "ISO")
		}
		x.raw("</Tp>")
		x.element("Ref", t.Reference)
		x.raw("</CdtrRefInf></Strd></RmtInf>")
	case text != "":
		x.open("RmtInf")
		x.element("Ustrd", text)
		x.close("RmtInf")
	}
	x.close("CdtTrfTxInf")
	x.raw("\n")
}

// forSEPA leaves out what the guidelines of the SEPA schemes do not have (EPC132-08): banks may reject it.
func (t Transfer) forSEPA() Transfer {
	t.UETR, t.CreditorAccount.Currency, t.CreditorAgent = "", "", Agent{BIC: t.CreditorAgent.BIC}
	if t.UltimateDebtor != nil {
		ultimate := *t.UltimateDebtor
		ultimate.Address = nil
		t.UltimateDebtor = &ultimate
	}
	return t
}

// nameLength returns how much of a name is written.
func (s Scheme) nameLength() int {
	if s.isSEPA() {
		return maxNameSEPA
	}
	return maxName
}
