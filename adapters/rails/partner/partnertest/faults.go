package partnertest

// Fault is something that a sidecar does wrong; empty for nothing.
type Fault string

// The faults.
const (
	AcceptsUnsigned   Fault = "answers requests without a signature"
	AcceptsOld        Fault = "accepts old timestamps"
	IgnoresBody       Fault = "does not check the body against the signature"
	NoHealth          Fault = "has no health"
	NoBalances        Fault = "has no balances"
	DoubleBalances    Fault = "names the balance of a currency twice"
	AnswersOtherID    Fault = "answers about another payment"
	RoundsAmounts     Fault = "computes with floating-point numbers"
	PaysAgain         Fault = "pays again when a request is repeated"
	NewPartnerID      Fault = "has a new id for each request"
	IgnoresConflicts  Fault = "takes another amount under a known id"
	KnowsEverything   Fault = "has a state of payments that it does not know"
	SettlesNothing    Fault = "settles nothing"
	OmitsCodes        Fault = "rejects without a code"
	RejectsWhenBusy   Fault = "rejects for good what it cannot do now"
	TakesWhenBusy     Fault = "refuses for now what it has taken"
	AlwaysBusy        Fault = "refuses for now, always"
	HoldsForever      Fault = "keeps payments pending"
	ForgetsLost       Fault = "forgets what it has not answered"
	ReturnsNothing    Fault = "returns nothing"
	OmitsReference    Fault = "reports receipts without their reference"
	NamesNoReceipt    Fault = "reports reversals of other receipts"
	OmitsPlatform     Fault = "reports payments without their platform"
	SameEventID       Fault = "uses the id of an event again"
	ForgetsEvents     Fault = "lists no events that it has sent"
	OldCursorsExpire  Fault = "accepts a cursor once"
	SendsNothing      Fault = "sends no events"
	SendsUnsigned     Fault = "sends events without a signature"
	SendsOldTimes     Fault = "sends old timestamps"
	SendsOnce         Fault = "repeats no message"
	AnswersNotInJSON  Fault = "answers with text"
	RedirectsRequests Fault = "redirects requests"
)
