package partnertest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"causeway/adapters/rails/partner"
	"causeway/core/signedmessage"
)

// ServeHTTP implements http.Handler.
func (s *Sidecar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, "incomplete", http.StatusBadRequest)
		return
	}
	if !s.isSigned(r, body) {
		http.Error(w, "not signed", http.StatusUnauthorized)
		return
	}
	if s.Fault == RedirectsRequests && r.Method == http.MethodPost {
		http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusPermanentRedirect)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	resource, id, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case resource == "health" && s.Fault != NoHealth:
		s.answer(w, http.StatusOK, partner.Health{Name: "Test Bank", Version: "1"})
	case resource == "balances" && s.Fault != NoBalances:
		s.showBalances(w)
	case resource == "events":
		s.showEvents(w, r)
	case resource == "payouts" || resource == "collections" || resource == "refunds":
		if r.Method == http.MethodPost {
			s.receive(w, "/"+resource, body)
		} else {
			s.show(w, paymentKey{kindOf[resource], id})
		}
	default:
		http.NotFound(w, r)
	}
}

func (s *Sidecar) isSigned(r *http.Request, body []byte) bool {
	signed := body
	if r.Method == http.MethodGet {
		signed = []byte("GET " + r.URL.RequestURI())
	}
	h := signedmessage.Headers{ID: r.Header.Get(signedmessage.IDHeader), Timestamp: r.Header.Get(signedmessage.TimestampHeader),
		Signature: r.Header.Get(signedmessage.SignatureHeader)}
	now := s.Now()
	if seconds, err := strconv.ParseInt(h.Timestamp, 10, 64); err == nil && s.Fault == AcceptsOld {
		now = time.Unix(seconds, 0)
	}
	_, err := s.Secrets.Verify(h, signed, now)
	return err == nil || s.Fault == AcceptsUnsigned || s.Fault == IgnoresBody && h.Signature != "" && len(body) > 0
}

func (s *Sidecar) answer(w http.ResponseWriter, status int, body any) {
	kind := "application/json"
	if s.Fault == AnswersNotInJSON {
		kind = "text/plain"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have left
}

// receive takes a payment.
func (s *Sidecar) receive(w http.ResponseWriter, path string, body []byte) {
	var p partner.Payment
	if err := json.Unmarshal(body, &p); err != nil || p.Kind.Path() != path {
		s.answer(w, http.StatusBadRequest, partner.Problem{Message: "The body is not a payment of the path."})
		return
	}
	if s.Fault == RoundsAmounts {
		p.Amount.Minor = partner.Minor(float64(p.Amount.Minor)) // what the fault is about
	}
	state, status := s.submit(p)
	known := s.payments[keyOf(p)]
	switch {
	case status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
		s.answer(w, status, partner.Problem{Message: "The bank is closed."})
	case status == http.StatusConflict:
		s.answer(w, status, partner.Problem{Message: "The id was used for another payment."})
	case known.course == LosesAnswer && !known.answered:
		known.answered = true
		if s.Fault == ForgetsLost {
			delete(s.payments, keyOf(p))
			s.order = s.order[:len(s.order)-1]
		}
		panic(http.ErrAbortHandler)
	default:
		s.answerState(w, known, state)
	}
}

// kindOf is the kind of payment of each resource.
var kindOf = map[string]partner.Kind{"payouts": partner.Payout, "collections": partner.Collection, "refunds": partner.Refund}

// show answers with the state of a payment.
func (s *Sidecar) show(w http.ResponseWriter, key paymentKey) {
	known, found := s.payments[key]
	switch {
	case found:
		s.answerState(w, known, known.state)
	case s.Fault == KnowsEverything:
		s.answer(w, http.StatusOK, partner.State{ID: key.id, Status: partner.Pending})
	default:
		s.answer(w, http.StatusNotFound, partner.Problem{Message: "There is no such payment."})
	}
}

func (s *Sidecar) answerState(w http.ResponseWriter, p *payment, state partner.State) {
	switch {
	case p.course == Silent && !s.relented:
		s.answerNonsense(w, state)
		return
	case s.Fault == AnswersOtherID:
		state.ID = "0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22"
	case s.Fault == SettlesNothing && state.Status == partner.Settled:
		state.Status, state.SettledAt = partner.Accepted, time.Time{}
	}
	s.answer(w, http.StatusOK, state)
}

// answerNonsense answers what no client may take for the outcome, each time in another way.
func (s *Sidecar) answerNonsense(w http.ResponseWriter, state partner.State) {
	s.nonsense++
	rejected := state
	rejected.Status, rejected.Code = partner.Rejected, "AC04"
	switch s.nonsense % 8 {
	case 0:
		http.Error(w, "maintenance", http.StatusBadGateway)
	case 1:
		rejected.ID = "0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22"
		s.answer(w, http.StatusOK, rejected)
	case 2:
		rejected.Amount.Minor++
		s.answer(w, http.StatusOK, rejected)
	case 3:
		s.answer(w, http.StatusUnprocessableEntity, rejected)
	case 4:
		rejected.Code = ""
		s.answer(w, http.StatusOK, rejected)
	case 5:
		s.answer(w, http.StatusOK, []partner.State{rejected})
	case 6:
		rejected.Text = strings.Repeat("x", 100_000)
		s.answer(w, http.StatusOK, rejected)
	default:
		rejected.Status = "FAILED"
		s.answer(w, http.StatusOK, rejected)
	}
}

func (s *Sidecar) showBalances(w http.ResponseWriter) {
	list := partner.BalanceList{Balances: []partner.Balance{}}
	for currency, minor := range s.balance {
		b := partner.Balance{Amount: partner.Amount{Minor: minor, Currency: currency, Decimals: decimals[currency]}, At: s.Now()}
		list.Balances = append(list.Balances, b)
		if s.Fault == DoubleBalances {
			list.Balances = append(list.Balances, b)
		}
	}
	s.answer(w, http.StatusOK, list)
}

var decimals = map[string]int{"USD": 2, "EUR": 2}

// showEvents answers with the events after a cursor, which is a number of events.
func (s *Sidecar) showEvents(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.Atoi(r.URL.Query().Get("after"))
	if r.URL.Query().Get("after") != "" && (err != nil || after > len(s.events)) {
		s.answer(w, http.StatusBadRequest, partner.Problem{Message: "The cursor is not known."})
		return
	}
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 {
		limit = 100
	}
	if s.Fault == OldCursorsExpire && s.cursors[after] {
		after = len(s.events)
	}
	page := partner.EventPage{Events: []partner.Event{}, Cursor: strconv.Itoa(after)}
	if s.Fault != ForgetsEvents {
		end := min(after+limit, len(s.events))
		page.Events = append(page.Events, s.events[after:end]...)
		page.Cursor, page.More = strconv.Itoa(end), end < len(s.events)
		s.cursors[after] = end > after
	}
	s.answer(w, http.StatusOK, page)
}
