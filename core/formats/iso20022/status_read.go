package iso20022

import (
	"bytes"
	"io"
	"time"

	"causeway/core/formats/textfile"
)

// maxReasons is how many reasons of one status are kept.
const maxReasons = 20

// ReadStatuses reads the status reports of a file, pain.002 of version 3 or later, and calls visit for each status in the
// order of the file. An error of visit ends the reading, and is returned as it is.
func ReadStatuses(r io.Reader, visit func(Status) error) error {
	return scanFile(textfile.Limit(r, MaxFileBytes), accepting("03", "pain.002"), &statusReader{visit: visit})
}

// statusReader has the status of each level that is being read.
type statusReader struct {
	visit                 func(Status) error
	message               Status // the ids of the message and of the file that it is about
	file, block, transfer Status
	blockVisited          bool
}

const (
	statusFile     = "OrgnlGrpInfAndSts"
	statusBlock    = "OrgnlPmtInfAndSts"
	statusTransfer = statusBlock + "/TxInfAndSts"
)

func (p *statusReader) start(s *scanner, path []byte) error {
	switch string(path) {
	case "GrpHdr":
		p.message = Status{}
	case statusFile:
		p.file = p.message
		p.file.Level, p.file.Line = StatusOfFile, s.line()
	case statusBlock:
		p.block, p.blockVisited = p.message, false
		p.block.Level, p.block.Line = StatusOfBlock, s.line()
	case statusTransfer:
		p.transfer = p.message
		p.transfer.Level, p.transfer.Line, p.transfer.OriginalBlockID = StatusOfTransfer, s.line(), p.block.OriginalBlockID
		return p.visitBlock()
	case statusFile + "/StsRsnInf":
		p.file.addReason()
	case statusBlock + "/StsRsnInf":
		p.block.addReason()
	case statusTransfer + "/StsRsnInf":
		p.transfer.addReason()
	}
	return nil
}

func (p *statusReader) end(_ *scanner, path []byte, text []byte) error {
	switch string(path) {
	case "GrpHdr/MsgId":
		p.message.MessageID = string(text)
	case "GrpHdr/CreDtTm":
		p.message.CreatedAt, _ = parseTime(string(text))
	case statusFile + "/OrgnlMsgId":
		p.file.OriginalMessageID, p.message.OriginalMessageID = string(text), string(text)
	case statusFile + "/OrgnlMsgNmId":
		p.file.OriginalMessageName, p.message.OriginalMessageName = string(text), string(text)
	case statusFile:
		return p.visitIfSaid(p.file)
	case statusBlock:
		return p.visitBlock()
	case statusTransfer:
		return p.visit(p.transfer)
	default:
		if part, found := bytes.CutPrefix(path, []byte(statusTransfer+"/")); found {
			p.transfer.set(string(part), string(text))
		} else if part, found := bytes.CutPrefix(path, []byte(statusBlock+"/")); found {
			p.block.set(string(part), string(text))
		} else if part, found := bytes.CutPrefix(path, []byte(statusFile+"/")); found {
			p.file.set(string(part), string(text))
		}
	}
	return nil
}

// visitBlock passes the status of a block on, before those of its transfers.
func (p *statusReader) visitBlock() error {
	if p.blockVisited {
		return nil
	}
	p.blockVisited = true
	return p.visitIfSaid(p.block)
}

// visitIfSaid leaves a status out that says nothing: the report is about what is below it.
func (p *statusReader) visitIfSaid(s Status) error {
	if s.Code == "" && len(s.Reasons) == 0 {
		return nil
	}
	return p.visit(s)
}

func (s *Status) set(part, text string) {
	switch part {
	case "OrgnlPmtInfId":
		s.OriginalBlockID = text
	case "OrgnlInstrId":
		s.OriginalInstructionID = text
	case "OrgnlEndToEndId":
		s.OriginalEndToEndID = text
	case "OrgnlUETR":
		s.OriginalUETR = text
	case "StsId":
		s.StatusID = text
	case "AcctSvcrRef":
		s.PartnerID = text
	case "GrpSts", "PmtInfSts", "TxSts":
		s.Code = text
	case "AccptncDtTm":
		s.AcceptedAt, _ = parseTime(text)
	case "StsRsnInf/Rsn/Cd":
		s.reason().Code = text
	case "StsRsnInf/Rsn/Prtry":
		s.reason().Code, s.reason().Proprietary = text, true
	case "StsRsnInf/AddtlInf":
		addWords(&s.reason().Text, text)
	}
}

func (s *Status) addReason() {
	s.Reasons = append(s.Reasons[:min(len(s.Reasons), maxReasons-1)], Reason{})
}

// reason returns the reason that is being read.
func (s *Status) reason() *Reason { return &s.Reasons[len(s.Reasons)-1] }

// addWords adds a text to those before it.
func addWords(to *string, text string) {
	switch {
	case text == "" || len(*to) > maxTextBytes:
	case *to == "":
		*to = text
	default:
		*to += " " + text
	}
}

// timeLayouts are those that banks write: the first two as XML Schema has them. A time without a zone is taken for UTC.
var timeLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05", time.DateOnly}

func parseTime(text string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
