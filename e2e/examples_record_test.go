package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// story is a platform at work, with a record of what it asks and is told.
type story struct {
	*house
	operations map[string]operation
	webhooks   map[string]any // the schemas of their bodies
	schemas    schemas
	mask       *mask
	shown      map[string][]example // by the id of the operation or webhook
}

// newStory is a service that prices with fixed rates, so that every amount is the same
// in every run.
func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{house: newDatabase(t), mask: newMask(), shown: map[string][]example{}}
	sheet := filepath.Join(t.TempDir(), "rates.xml")
	if err := os.WriteFile(sheet, fmt.Appendf(nil, rateSheet, time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.mask.begin()
	s.server = serve(t, s.database, "--rates", "ecb", "--rates-ecb", sheet, "--rates-dollars", "USDC,USDB", "--seal-every", "1s")
	s.party = s.found("Example", "SANDBOX", "--regulated")
	s.mask.secret(s.secret)
	s.mask.secret(s.id)
	s.mask.secret(masterKey)
	description := s.get("/openapi.json").want(200)
	s.operations, s.webhooks = operations(description)
	s.schemas.components, _ = description.value("components.schemas").(map[string]any)
	return s
}

const rateSheet = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
	<Cube><Cube time='%s'><Cube currency='USD' rate='1.0873'/><Cube currency='MXN' rate='20.1468'/><Cube currency='GBP' rate='0.84105'/></Cube></Cube>
</gesmes:Envelope>
`

// described are the ids of everything that must be shown: all that answers in JSON.
func (s *story) described() []string {
	ids := slices.Collect(maps.Keys(s.webhooks))
	for id, op := range s.operations {
		if !op.file {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// show calls an operation, and records the exchange as an example of it. The body is
// JSON, or empty for none.
func (s *story) show(id, title, path, body string) answer {
	s.t.Helper()
	op, ok := s.operations[id]
	called, _, _ := strings.Cut(path, "?")
	if !ok || !op.pattern.MatchString(called) {
		s.t.Fatalf("the description has no operation %s at %s", id, called)
	}
	e := example{Title: title, Method: op.method}
	var sent any
	if body != "" {
		sent = body
	}
	by := s.client
	if op.upload != "" {
		by = s.with("Content-Type", op.upload)
	}
	s.mask.begin()
	got := by.call(op.method, path, sent)
	s.mask.learn(got.text)
	if op.upload != "" {
		body = "" // a file is told of by its type
	}
	response := op.responses[strconv.Itoa(got.status)]
	if e.Status = got.status; response == nil {
		s.t.Fatalf("%s: status %d, which the description does not tell of: %s", got.what, got.status, got.text)
	}
	if got.status < 300 { // else the request may be what is wrong
		s.check(id+" is sent", op.body, []byte(body))
	}
	s.check(id+" answers", schemaOf(response), got.text)
	e.Path, e.Body, e.Answer = s.mask.text(path), s.masked([]byte(body)), s.masked(got.text)
	s.shown[id] = append(s.shown[id], e)
	return got
}

// pass is a line of the story that is not shown.
func (s *story) pass(method, path string, body any) answer {
	s.t.Helper()
	s.mask.begin()
	got := s.call(method, path, body)
	s.mask.learn(got.text)
	return got
}

// tell records a delivery as an example of a webhook, with what it was answered.
func (s *story) tell(webhook, title string, d delivery, reply string) {
	s.t.Helper()
	schema, ok := s.webhooks[webhook]
	if !ok {
		s.t.Fatalf("the description has no webhook %s", webhook)
	}
	s.check(webhook+" tells", schema, d.text)
	s.mask.learn(d.text)
	s.shown[webhook] = append(s.shown[webhook], example{Title: title, Method: "POST", Body: s.masked(d.text), Status: d.status, Answer: s.masked([]byte(reply))})
}

// check finds what the description tells otherwise, or not at all.
func (s *story) check(what string, schema any, text []byte) {
	s.t.Helper()
	if len(text) == 0 {
		return
	}
	if schema == nil {
		s.t.Errorf("%s a body that is not described: %s", what, text)
		return
	}
	for _, complaint := range s.schemas.complaints(schema, decoded(s.t, text), "body") {
		s.t.Errorf("%s what the description says otherwise: %s", what, complaint)
	}
}

func (s *story) masked(text []byte) json.RawMessage {
	s.t.Helper()
	if len(text) == 0 {
		return nil
	}
	masked, err := s.mask.json(text)
	if err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	return masked
}

// told awaits an event about a resource: a transaction or an internal account.
func (s *story) told(event, about string) delivery {
	s.t.Helper()
	return s.hooks.await(event+" of "+about, func(d delivery) bool {
		return d.event == event && (d.about == about || d.str("internalAccount.id") == about)
	})
}

// settled returns when everything that was told is also known to have been delivered.
func (s *story) settled() {
	s.t.Helper()
	until(s.t, "the end of all deliveries", func() bool {
		return len(s.get("/webhook-deliveries?status=PENDING").want(200).list("data")) == 0
	})
}
