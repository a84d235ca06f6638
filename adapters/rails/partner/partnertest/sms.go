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

// SMSProvider is a provider of text messages, which keeps those that it accepts. It answers by the number, as the tests of the contract
// have it.
type SMSProvider struct {
	Secrets signedmessage.Secrets
	Now     func() time.Time
	// Fault is what the provider does wrong.
	Fault SMSFault

	mu       sync.Mutex
	sent     []partner.SMS
	answered map[string]answeredSMS
}

type answeredSMS struct {
	partner.SMS
	result partner.SMSResult
}

// SMSFault is something that a provider of text messages does wrong.
type SMSFault string

// The faults.
const (
	SMSUnsigned    SMSFault = "accepts requests without a signature"
	SMSOld         SMSFault = "accepts old requests"
	SMSAllAccepted SMSFault = "accepts everything"
	SMSNoCode      SMSFault = "does not say why it refuses"
	SMSNumberShown SMSFault = "says the number in the code"
	SMSOtherID     SMSFault = "answers about another message"
	SMSUnknown     SMSFault = "answers with a result that does not exist"
	SMSIDsOnly     SMSFault = "knows messages by their id only"
	SMSSlow        SMSFault = "takes a second"
	SMSDown        SMSFault = "answers with 500"
	SMSNotJSON     SMSFault = "answers with a page"
	SMSRedirected  SMSFault = "redirects"
)

// SMSFaults are all faults.
func SMSFaults() []SMSFault {
	return []SMSFault{SMSUnsigned, SMSOld, SMSAllAccepted, SMSNoCode, SMSNumberShown, SMSOtherID, SMSUnknown, SMSIDsOnly, SMSSlow, SMSDown,
		SMSNotJSON, SMSRedirected}
}

// Sent returns the text messages to a number so far; a repeated one is there once.
func (p *SMSProvider) Sent(to string) []partner.SMS {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []partner.SMS
	for _, m := range p.sent {
		if m.To == to {
			found = append(found, m)
		}
	}
	return found
}

// SetFault sets what the provider does wrong from now on.
func (p *SMSProvider) SetFault(f SMSFault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Fault = f
}

// ServeHTTP implements http.Handler.
func (p *SMSProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	f := p.Fault
	p.mu.Unlock()
	s := &Sidecar{Secrets: p.Secrets, Now: p.Now, Fault: map[SMSFault]Fault{SMSUnsigned: AcceptsUnsigned, SMSOld: AcceptsOld}[f]}
	s.serveProvider(w, r, "/sms", map[SMSFault]failure{SMSDown: answersDown, SMSRedirected: redirects, SMSNotJSON: answersPage}[f],
		func(body []byte) { p.take(w, s, f, body) })
}

func (p *SMSProvider) take(w http.ResponseWriter, s *Sidecar, f SMSFault, body []byte) {
	var m partner.SMS
	if err := json.Unmarshal(body, &m); err != nil || m.ID == "" || m.Text == "" || m.To == "" && f != SMSAllAccepted {
		s.answer(w, http.StatusBadRequest, partner.Problem{Message: "The body is not a text message."})
		return
	}
	if f == SMSSlow {
		time.Sleep(1200 * time.Millisecond)
	}
	if m.To == "+12025550102" && f != SMSAllAccepted {
		w.Header().Set("Retry-After", "1")
		s.answer(w, http.StatusServiceUnavailable, partner.Problem{Message: "The network is busy."})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known, repeated := p.answered[m.ID]
	if repeated && known.SMS != m && f != SMSIDsOnly {
		s.answer(w, http.StatusConflict, partner.Problem{Message: "The id was used for another text message."})
		return
	}
	if !repeated {
		known = answeredSMS{m, p.decide(m, f)}
		if p.answered == nil {
			p.answered = map[string]answeredSMS{}
		}
		p.answered[m.ID] = known
		if known.result.Result == partner.SMSAccepted {
			p.sent = append(p.sent, m)
		}
	}
	s.answer(w, http.StatusOK, known.result)
}

func (p *SMSProvider) decide(m partner.SMS, f SMSFault) partner.SMSResult {
	r := partner.SMSResult{ID: m.ID, Result: partner.SMSAccepted}
	switch {
	case f == SMSAllAccepted:
	case m.To == "+12025550101":
		r.Result, r.Code = partner.SMSRefused, "INVALID_NUMBER"
	case !m.ExpiresAt.After(p.Now()):
		r.Result, r.Code = partner.SMSRefused, "EXPIRED"
	}
	switch {
	case f == SMSNoCode:
		r.Code = ""
	case f == SMSNumberShown && r.Code != "":
		r.Code += " " + m.To
	case f == SMSOtherID:
		r.ID = strings.Repeat("0", len(m.ID))
	case f == SMSUnknown:
		r.Result = "MAYBE"
	}
	return r
}
