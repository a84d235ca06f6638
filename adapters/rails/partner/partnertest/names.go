package partnertest

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"causeway/adapters/rails/partner"
	"causeway/core/signedmessage"
)

// NameProvider is a provider of name checks, which answers by the name that it is asked about: that of a test, or else a match.
type NameProvider struct {
	Secrets signedmessage.Secrets
	Now     func() time.Time
	// Fault is what the provider does wrong.
	Fault NameFault

	mu    sync.Mutex
	asked []partner.NameCheck
}

// NameFault is something that a provider of name checks does wrong.
type NameFault string

// The faults.
const (
	NamesUnsigned   NameFault = "accepts requests without a signature"
	NamesOld        NameFault = "accepts old requests"
	NamesAllMatch   NameFault = "answers that every name matches"
	NamesDisclosed  NameFault = "discloses the owner of an account with another name"
	NamesNotNamed   NameFault = "does not say the name of a partial match"
	NamesOtherID    NameFault = "answers another question"
	NamesUnknown    NameFault = "answers with a result that does not exist"
	NamesGuessed    NameFault = "answers when the institution does not"
	NamesOfNobody   NameFault = "checks no name"
	NamesSlow       NameFault = "takes a second"
	NamesDown       NameFault = "answers with 500"
	NamesNotJSON    NameFault = "answers with a page"
	NamesRedirected NameFault = "redirects"
)

// NameFaults are all faults.
func NameFaults() []NameFault {
	return []NameFault{NamesUnsigned, NamesOld, NamesAllMatch, NamesDisclosed, NamesNotNamed, NamesOtherID, NamesUnknown, NamesGuessed,
		NamesOfNobody, NamesSlow, NamesDown, NamesNotJSON, NamesRedirected}
}

// Asked returns the questions so far.
func (p *NameProvider) Asked() []partner.NameCheck {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]partner.NameCheck(nil), p.asked...)
}

// SetFault sets what the provider does wrong from now on.
func (p *NameProvider) SetFault(f NameFault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Fault = f
}

// ServeHTTP implements http.Handler.
func (p *NameProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	f := p.Fault
	p.mu.Unlock()
	s := &Sidecar{Secrets: p.Secrets, Now: p.Now, Fault: map[NameFault]Fault{NamesUnsigned: AcceptsUnsigned, NamesOld: AcceptsOld}[f]}
	s.serveProvider(w, r, "/name-checks", map[NameFault]failure{NamesDown: answersDown, NamesRedirected: redirects,
		NamesNotJSON: answersPage}[f], func(body []byte) { p.check(w, s, f, body) })
}

func (p *NameProvider) check(w http.ResponseWriter, s *Sidecar, f NameFault, body []byte) {
	var q partner.NameCheck
	if err := json.Unmarshal(body, &q); err != nil || q.Account.Holder == nil || q.Account.Holder.Name == "" && f != NamesOfNobody {
		s.answer(w, http.StatusBadRequest, partner.Problem{Message: "The body is not a question about a name."})
		return
	}
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	name := q.Account.Holder.Name
	result := partner.NameCheckResult{ID: q.ID, Result: partner.NameMatches}
	switch {
	case f == NamesAllMatch:
	case name == "Test Partial":
		result.Result, result.Name = partner.NameMatchesPartly, "Test Partially"
	case name == "Test Other":
		result.Result = partner.NameDiffers
	case name == "Test Missing":
		result.Result = partner.NameOfNoAccount
	case name == "Test Unsupported":
		result.Result = partner.NameNotSupported
	case name == "Test Unavailable" && f != NamesGuessed:
		s.answer(w, http.StatusServiceUnavailable, partner.Problem{Message: "The bank does not answer."})
		return
	}
	switch {
	case f == NamesDisclosed && result.Result == partner.NameDiffers:
		result.Name = "The Owner"
	case f == NamesNotNamed:
		result.Name = ""
	case f == NamesOtherID:
		result.ID = strings.Repeat("0", len(q.ID))
	case f == NamesUnknown:
		result.Result = "MAYBE"
	case f == NamesSlow:
		time.Sleep(1200 * time.Millisecond)
	}
	s.answer(w, http.StatusOK, result)
}
