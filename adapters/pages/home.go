package pages

import (
	"net/http"
	"slices"
	"strings"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/ident"
)

// homePage shows what is missing or, once it is submitted, what happened.
type homePage struct {
	page
	// State is "change", "waiting", "approved" or "rejected".
	State string
	Steps []step
	// Business: there is a list of owners.
	Business bool
	// Problems are keys of texts about what an examiner found, for "change".
	Problems []string
	// ReturnTo: the platform waits for the customer.
	ReturnTo bool
}

// step is a part of what is asked for.
type step struct {
	// Title is a key, or Name is the name of an owner.
	Title, Name string
	// Action is the key of the link to URL. UploadURL is empty unless there is also a form for documents.
	Action, URL, UploadURL string
	Done                   bool
	// Missing are keys of texts.
	Missing []string
	Files   []uploaded
}

// uploaded is a document that was uploaded. Type and Side are keys. ID is empty if it cannot be removed.
type uploaded struct{ Type, Side, FileName, ID string }

const (
	stateChange   = "change"
	stateWaiting  = "waiting"
	stateApproved = "approved"
	stateRejected = "rejected"
)

// Complete reports whether everything can be submitted.
func (h *homePage) Complete() bool {
	return !slices.ContainsFunc(h.Steps, func(s step) bool { return !s.Done })
}

func (p *Pages) showHome(r *request) error {
	a := r.applicant
	data := &homePage{State: stateOf(r), Business: a.Customer.Type == customer.Business, ReturnTo: a.ReturnTo != ""}
	data.Title = "home." + data.State + ".title"
	if data.State == stateChange {
		data.Steps = steps(r)
		for _, e := range a.Verification.Errors {
			// What the pages ask for is among the steps; only the provider knows of these two.
			ofSteps := strings.HasPrefix(string(e.Type), "MISSING_") && e.Type != customer.MissingControlPerson &&
				e.Type != customer.MissingGoodStandingDocument
			if key := "found." + string(e.Type); !ofSteps && !slices.Contains(data.Problems, key) && !isMissing(r, e) {
				data.Problems = append(data.Problems, key)
			}
		}
	}
	return p.render(r, http.StatusOK, "home.html", data)
}

func stateOf(r *request) string {
	switch a := r.applicant; {
	case a.CanChange:
		return stateChange
	case a.Customer.Status == customer.Approved:
		return stateApproved
	case a.Customer.Status == customer.Rejected:
		return stateRejected
	}
	return stateWaiting
}

// isMissing reports whether a step shows an error already.
func isMissing(r *request, e customer.CheckError) bool {
	return slices.ContainsFunc(r.applicant.Missing, func(m customer.CheckError) bool {
		return m.Resource == e.Resource && m.Type == e.Type && m.Field == e.Field
	})
}

// steps returns the parts of what is asked for, each with what it lacks.
func steps(r *request) []step {
	a := r.applicant
	all := []step{
		{Title: "step.details." + string(a.Customer.Type), Action: "step.edit", URL: home + "/details"},
		{Title: "step.documents." + string(a.Customer.Type), Action: "step.upload", URL: documentsURL(ident.BeneficialOwner{}),
			Files: filesOf(r, document.Holder{Customer: a.Customer.ID})},
	}
	const details, documents = 0, 1
	owners, none := map[string]int{}, -1
	if a.Customer.Type == customer.Business {
		none = len(all)
		all = append(all, step{Title: "step.owners", Action: "step.addOwner", URL: home + "/owners/new"})
		for _, o := range a.Owners {
			owners[o.ID.String()] = len(all)
			all = append(all, step{Name: o.Person.FullName(), Action: "step.edit", URL: home + "/owners/" + o.ID.UUID().String(),
				UploadURL: documentsURL(o.ID),
				Files:     filesOf(r, document.Holder{Owner: o.ID})})
		}
	}
	holders := map[string]string{}
	for _, d := range a.Documents {
		holders[d.ID.String()] = d.Holder.String()
	}
	for _, m := range a.Missing {
		at, isOwner := owners[m.Resource]
		if holder, ok := holders[m.Resource]; ok {
			if at, isOwner = owners[holder]; !isOwner {
				at = documents
			}
		} else if !isOwner {
			switch m.Type {
			case customer.MissingField, customer.InvalidField:
				at = details
			case customer.MissingBeneficialOwner:
				at = max(none, 0)
			default:
				at = documents
			}
		}
		all[at].Missing = append(all[at].Missing, missingKey(r, m))
	}
	for i := range all {
		all[i].Done = len(all[i].Missing) == 0
	}
	return all
}

// missingKey returns the key of the text about what is missing: of a field its label.
func missingKey(r *request, m customer.CheckError) string {
	if label := "label." + m.Field; m.Type == customer.MissingField && r.language.has(label) {
		return label
	}
	if m.Type == customer.MissingIdentityDocument && slices.Contains(m.AcceptedDocuments, string(document.Passport)) {
		if len(m.AcceptedDocuments) == 1 {
			return "found.MISSING_PASSPORT"
		}
		return "found.MISSING_IDENTITY"
	}
	return "found." + string(m.Type)
}

func filesOf(r *request, h document.Holder) []uploaded {
	var all []uploaded
	for _, d := range r.applicant.Documents {
		if d.Holder != h {
			continue
		}
		one := uploaded{Type: "document." + string(d.Type), FileName: d.File.Name}
		if d.Type.HasTwoSides() {
			one.Side = "side." + string(d.Side)
		}
		if d.CheckDelete() == nil {
			one.ID = d.ID.UUID().String()
		}
		all = append(all, one)
	}
	return all
}

func (p *Pages) submit(r *request) error {
	if err := p.SelfService.Submit(r.Context(), r.secret); err != nil {
		return err
	}
	return redirect(r, home)
}

// returnToPlatform goes to the address that the platform gave for the customer of this session, if the
// platform still allows it.
func (p *Pages) returnToPlatform(r *request) error {
	if r.applicant.ReturnTo == "" {
		return redirect(r, home)
	}
	return redirect(r, r.applicant.ReturnTo)
}
