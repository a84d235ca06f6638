package verification

import (
	"slices"
	"strings"
	"testing"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

func TestCheckReview(t *testing.T) {
	// An operator accepts, refuses or asks for named corrections, and says who and why.
	t.Parallel()
	wrong := []customer.CheckError{{Resource: "Customer:x", Type: customer.InvalidField, Field: "birthDate",
		Reason: "differs from the passport"}}
	valid := func(verdict Verdict, errors ...customer.CheckError) Decision {
		return Decision{Outcome: Outcome{Verdict: verdict, Reason: "seen the passport", Errors: errors}, By: "ana"}
	}
	for name, d := range map[string]Decision{
		"accept": valid(Accepted), "refuse": valid(Refused),
		"refuse with errors": valid(Refused, customer.CheckError{Type: customer.ApplicantSanctioned, Reason: "is listed"}),
		"correct":            valid(Correctable, wrong...),
	} {
		if err := CheckReview(d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	edited := func(edit func(*Decision)) Decision {
		d := valid(Correctable, wrong...)
		edit(&d)
		return d
	}
	for name, c := range map[string]struct {
		field string
		d     Decision
	}{
		"no actor":                {"actor", edited(func(d *Decision) { d.By = " " })},
		"no reason":               {"reason", edited(func(d *Decision) { d.Reason = "" })},
		"long reason":             {"reason", edited(func(d *Decision) { d.Reason = strings.Repeat("x", 2001) })},
		"no verdict":              {"verdict", valid(InReview)},
		"accept with errors":      {"problem", valid(Accepted, wrong...)},
		"correct without errors":  {"problem", valid(Correctable)},
		"unknown type":            {"problem", valid(Refused, customer.CheckError{Type: "X", Reason: "x"})},
		"error without a reason":  {"problem", valid(Correctable, customer.CheckError{Type: customer.ExpiredDocument})},
		"field without a name":    {"problem", valid(Correctable, customer.CheckError{Type: customer.InvalidField, Reason: "x"})},
		"document with a field":   {"problem", valid(Correctable, customer.CheckError{Type: customer.ExpiredDocument, Field: "x", Reason: "x"})},
		"more errors than fit in": {"problem", edited(func(d *Decision) { d.Errors = make([]customer.CheckError, 51) })},
	} {
		err := CheckReview(c.d)
		if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput || len(f.Fields) == 0 || f.Fields[0].Field != c.field {
			t.Errorf("%s: %v, want %s", name, err, c.field)
		}
	}
}

func TestParseReviewSubject(t *testing.T) {
	// A verification and a beneficial owner can be reviewed, and nothing else.
	t.Parallel()
	v, o := ident.NewVerification(newUUID, now), ident.NewBeneficialOwner(newUUID, now)
	if s, err := ParseReviewSubject(v.String()); err != nil || s.Verification != v || s.String() != v.String() {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := ParseReviewSubject(o.String()); err != nil || s.Owner != o || s.String() != o.String() {
		t.Errorf("%v, %v", s, err)
	}
	for _, id := range []string{"", v.UUID().String(), ident.NewCustomer(newUUID, now).String()} {
		if _, err := ParseReviewSubject(id); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestCheckOutcome(t *testing.T) {
	t.Parallel()
	// An outcome has a known verdict, and errors exactly where they belong: each with a known type, a text,
	// and a field if it is about one.
	wrong := customer.CheckError{Resource: business().ID.String(), Type: customer.InvalidField, Field: "fullName", Reason: "is wrong"}
	edited := func(edit func(*customer.CheckError)) []customer.CheckError {
		e := wrong
		edit(&e)
		return []customer.CheckError{e}
	}
	for name, c := range map[string]struct {
		outcome Outcome
		valid   bool
	}{
		"waiting":            {Outcome{Verdict: Waiting}, true},
		"refused":            {Outcome{Verdict: Refused}, true},
		"refused, why":       {Outcome{Verdict: Refused, Errors: []customer.CheckError{wrong}, Reason: "ticket 17"}, true},
		"correctable":        {Outcome{Verdict: Correctable, Errors: []customer.CheckError{wrong}}, true},
		"correctable, empty": {Outcome{Verdict: Correctable}, false},
		"in review, errors":  {Outcome{Verdict: InReview, Errors: []customer.CheckError{wrong}}, false},
		"accepted, errors":   {Outcome{Verdict: Accepted, Errors: []customer.CheckError{wrong}}, false},
		"verdict":            {Outcome{Verdict: "FINE"}, false},
		"long reason":        {Outcome{Verdict: Accepted, Reason: strings.Repeat("x", maxReasonLength+1)}, false},
		"too many":           {Outcome{Verdict: Correctable, Errors: slices.Repeat([]customer.CheckError{wrong}, maxErrors+1)}, false},
		"resource":           {Outcome{Verdict: Refused, Errors: edited(func(e *customer.CheckError) { e.Resource = "Ana Ng" })}, false},
		"document": {Outcome{Verdict: Refused,
			Errors: edited(func(e *customer.CheckError) { e.Resource = ident.NewDocument(newUUID, now).String() })}, true},
		"type":     {Outcome{Verdict: Refused, Errors: edited(func(e *customer.CheckError) { e.Type = "SMUDGED" })}, false},
		"text":     {Outcome{Verdict: Refused, Errors: edited(func(e *customer.CheckError) { e.Reason = " " })}, false},
		"no field": {Outcome{Verdict: Refused, Errors: edited(func(e *customer.CheckError) { e.Field = "" })}, false},
		"long field": {Outcome{Verdict: Refused,
			Errors: edited(func(e *customer.CheckError) { e.Field = strings.Repeat("x", maxFieldLength+1) })}, false},
		"documents": {Outcome{Verdict: Refused,
			Errors: edited(func(e *customer.CheckError) { e.AcceptedDocuments = []string{"LETTER"} })}, false},
		"known documents": {Outcome{Verdict: Refused,
			Errors: edited(func(e *customer.CheckError) { e.AcceptedDocuments = []string{"PASSPORT"} })}, true},
	} {
		if err := CheckOutcome(c.outcome); (err == nil) != c.valid || err != nil && !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v, want valid %v", name, err, c.valid)
		}
	}
}
