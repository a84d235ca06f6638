package console

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/core/verification"
)

// reviewDecision is a decision about the customer of a verification, or one of its owners.
type reviewDecision struct {
	path, title, does string
	verdict           verification.Verdict
	fields            []field
	// errors returns what is sent to the platform; nil if nothing is.
	errors func(r *request, resource string) ([]customer.CheckError, error)
}

var reasonField = field{Name: "reason", Label: "Reason", Hint: "It is stored with your name, and not shown to the platform."}

var refusals = []option{{"APPLICANT_REJECTED", "rejected"}, {"APPLICANT_SANCTIONED", "sanctioned"}, {"APPLICANT_FRAUD", "fraud"},
	{"APPLICANT_CRIMINAL_RECORD", "criminal record"}}

var reviewDecisions = []reviewDecision{
	{"accept", "Approve", "The customer or owner is approved. A business is approved when all of its owners are. From then on it moves money.",
		verification.Accepted, []field{reasonField}, nil},
	{"correct", "Ask for corrections", "The platform sees each problem with what to do, and submits again.", verification.Correctable,
		[]field{reasonField, {Name: "problems", Label: "What is to be corrected", Kind: "textarea",
			Hint: "A problem on each line: the path of a " +
				"field, such as `address.line1`, or a type, such as `EXPIRED_DOCUMENT@Document:…`, then `=` and what to do."}}, correctionsOf},
	{"refuse", "Reject", "The customer or owner is rejected, and with an owner the business. It moves no money.", verification.Refused,
		[]field{reasonField, {Name: "type", Label: "Type that the platform sees", Kind: "select", Options: refusals},
			{Name: "show", Label: "Reason that the platform sees", Value: "The verification was rejected."}},
		func(r *request, resource string) ([]customer.CheckError, error) {
			return []customer.CheckError{{Resource: resource, Type: customer.CheckErrorType(r.PostFormValue("type")),
				Reason: r.PostFormValue("show")}}, nil
		}},
}

// correctionsOf reads the problems of a form, one on each line.
func correctionsOf(r *request, resource string) (all []customer.CheckError, err error) {
	for line := range strings.Lines(r.PostFormValue("problems")) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, reason, found := strings.Cut(line, "=")
		name, reason = strings.TrimSpace(name), strings.TrimSpace(reason)
		if !found || name == "" {
			return nil, fault.Invalid(fault.Field{Field: "problems", Message: "must have a field or a type, =, and what to do on each line"})
		}
		problem := customer.CheckError{Resource: resource, Type: customer.InvalidField, Field: name, Reason: reason}
		if kind, of, named := strings.Cut(name, "@"); named || strings.ToUpper(name) == name {
			problem.Type, problem.Field, problem.Resource = customer.CheckErrorType(kind), "", cmp.Or(of, resource)
		}
		all = append(all, problem)
	}
	return all, nil
}

// reviewAction decides about the customer or, if the path names one, about an owner. What is decided is the application that was shown.
func (c *Console) reviewAction(r *request, d reviewDecision) (action, error) {
	found, err := c.caseIn(r)
	if err != nil {
		return action{}, err
	}
	subject, resource := verification.ReviewSubject{Verification: found.Verification.ID}, found.Customer.ID.String()
	if r.PathValue("owner") != "" {
		id, err := idIn(r, "owner", ident.ParseBeneficialOwner)
		if err != nil {
			return action{}, err
		}
		subject, resource = verification.ReviewSubject{Owner: id}, id.String()
	}
	a := action{Title: d.title, Section: "reviews", Does: d.does, Facts: []fact{{Name: "Subject", Value: subject.String()}}, NeedsCode: true,
		Back:   basePath(r.platform.ID) + "/reviews/" + pathOfID(found.Verification.ID),
		Fields: append([]field{{Name: "application", Kind: "hidden", Value: r.URL.Query().Get("application")}}, d.fields...)}
	var open []string
	for _, m := range found.Matches {
		if m.Of == resource && !m.Cleared && d.verdict == verification.Accepted {
			open = append(open, m.Entry.ID())
			a.Fields = append(a.Fields, field{Name: "clear-" + m.Entry.ID(), Kind: "checkbox", Label: "The entry " + m.Entry.ID() +
				" of a sanctions list is about somebody else"})
		}
	}
	a.do = func(r *request) (string, error) {
		application, err := uuid.Parse(r.PostFormValue("application"))
		if err != nil {
			return "", errUnreadable
		}
		decision := verification.Decision{Application: application, By: r.in.Person.Email, Person: r.in.Person.ID,
			Outcome: verification.Outcome{Verdict: d.verdict, Reason: r.PostFormValue("reason")}}
		if d.errors != nil {
			if decision.Errors, err = d.errors(r, resource); err != nil {
				return "", err
			}
		}
		cleared := slices.DeleteFunc(open, func(entry string) bool { return r.PostFormValue("clear-"+entry) == "" })
		_, err = c.Verifications.Review(r.Context(), r.platform.ID, subject, decision, cleared...)
		return "", err
	}
	return a, nil
}

// judge returns what decides about a hit of the screening.
func (c *Console) judge(status screening.HitStatus) func(*request) (action, error) {
	title, does := "It is somebody else", "The entry is about somebody else. When no entry is open any more, the customer may move money "+
		"again."
	if status == screening.Confirmed {
		title, does = "The entry is about the customer", "The customer is rejected, and moves no money any more."
	}
	return func(r *request) (action, error) {
		hits, err := c.Screening.Hits(r.Context(), r.platform.ID, maxReviews)
		if err != nil {
			return action{}, err
		}
		i := slices.IndexFunc(hits, func(h screening.Hit) bool { return h.ID.String() == r.PathValue("hit") })
		if i < 0 {
			return action{}, &problem{http.StatusNotFound, "Not found", "There is no such hit, or it is decided."}
		}
		h, base := hits[i], basePath(r.platform.ID)
		facts := add(nil, "Entry", h.EntryID())
		facts = add(facts, "Score", strconv.Itoa(h.Score))
		facts = add(facts, "Customer", h.Customer.String(), base+"/customers/"+pathOfID(h.Customer))
		if !h.Owner.IsZero() {
			facts = add(facts, "Owner", h.Owner.String())
		}
		return action{Title: title, Section: "reviews", Does: does, Facts: add(facts, "Found", moment(h.FoundAt)), Fields: []field{reasonField},
			NeedsCode: true, Back: base + "/reviews",
			do: func(r *request) (string, error) {
				_, err := c.Screening.Judge(r.Context(), r.platform.ID, screening.Party{Customer: h.Customer, Owner: h.Owner},
					[]string{h.EntryID()}, screening.Verdict{Status: status, By: r.in.Person.Email, Person: r.in.Person.ID,
						Reason: r.PostFormValue("reason"), At: c.Clock.Now()})
				return "", err
			}}, nil
	}
}
