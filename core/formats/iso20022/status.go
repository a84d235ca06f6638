package iso20022

import "time"

// StatusLevel says what a status is about.
type StatusLevel string

// The levels. A status of a file or block holds for every transfer in it that has no status of its own in the report.
const (
	StatusOfFile     StatusLevel = "FILE"
	StatusOfBlock    StatusLevel = "BLOCK"
	StatusOfTransfer StatusLevel = "TRANSFER"
)

// Status is one status of a pain.002 report.
type Status struct {
	Level StatusLevel
	// MessageID and CreatedAt are those of the report. CreatedAt is zero if the bank wrote none that can be read.
	MessageID string
	CreatedAt time.Time
	// The ids of what the status is about, as the initiation had them. Those below its level are empty.
	OriginalMessageID     string
	OriginalMessageName   string // such as pain.001.001.09
	OriginalBlockID       string
	OriginalInstructionID string
	OriginalEndToEndID    string
	OriginalUETR          string
	// StatusID is the bank's id of this status, and PartnerID the bank's reference of the transfer; empty if it named none.
	StatusID, PartnerID string
	// Code is the status: ACTC, ACCP, ACSP, ACSC, ACWC, ACCC, PDNG, PART, RCVD, RJCT, CANC or another code of ISO's
	// external list. It is empty if the report only says something about what is below it.
	Code    string
	Reasons []Reason
	// AcceptedAt is when the bank accepted the transfer; zero if unknown.
	AcceptedAt time.Time
	// Line is where the status begins in the file.
	Line int
}

// Reason is a reason for a status or a return.
type Reason struct {
	// Code is a code of ISO's external list, such as AC04, or the bank's own code if Proprietary is set.
	Code        string
	Proprietary bool
	Text        string // what the bank wrote about it, in one text
}
