package pages

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
)

// uploadForm is the form for a document of a holder.
func uploadForm(r *request, h document.Holder) *formPage {
	isBusiness := h.Owner.IsZero() && r.applicant.Customer.Type == customer.Business
	types := offeredTypes(isBusiness)
	fields := []field{
		{Name: "documentType", Kind: "select", Options: options("document.", types), Value: neededType(r, h, types)},
		{Name: "country", Kind: "select", Options: r.language.countries, Hint: "hint.issued", Value: countryOf(r, h)},
	}
	if !isBusiness {
		fields = append(fields,
			field{Name: "side", Kind: "select", Options: options("side.", []string{string(document.Front), string(document.Back)}),
				Hint: "hint.side", Optional: true},
			field{Name: "documentNumber", Kind: "text", Hint: "hint.documentNumber"},
			field{Name: "issuingAuthority", Kind: "text", Hint: "hint.issuingAuthority"})
	}
	fields = append(fields, field{Name: "file", Kind: "file", Hint: "hint.file"})
	return &formPage{page: page{Title: "upload.title"}, Intro: "upload.intro", Submit: "button.upload", HasFile: true, Uploaded: filesOf(r, h),
		Groups: []group{{"legend.document", fields}}}
}

// uploadFormOf returns the form for a document of the holder that a path names.
func uploadFormOf(r *request) (*formPage, error) {
	h, err := r.holder()
	if err != nil {
		return nil, err
	}
	return uploadForm(r, h), nil
}

// offeredTypes returns the types of documents that prove something about a person or a business.
func offeredTypes(isBusiness bool) []string {
	categories := []document.Category{document.Identity}
	if isBusiness {
		categories = []document.Category{document.LegalPresence, document.ControlStructure, document.OwnershipStructure, document.ProofOfAddress}
	}
	var types []string
	for _, c := range categories {
		for _, t := range document.TypesOf(c) {
			if !slices.Contains(types, string(t)) {
				types = append(types, string(t))
			}
		}
	}
	return types
}

// neededType returns the first type that is missing, or none.
func neededType(r *request, h document.Holder, offered []string) string {
	for _, m := range r.applicant.Missing {
		if m.Resource == h.String() && len(m.AcceptedDocuments) > 0 && slices.Contains(offered, m.AcceptedDocuments[0]) {
			return m.AcceptedDocuments[0]
		}
	}
	return ""
}

// countryOf returns the country from which the documents of a holder usually are.
func countryOf(r *request, h document.Holder) string {
	for _, o := range r.applicant.Owners {
		if o.ID == h.Owner {
			return o.Person.Nationality
		}
	}
	if b := r.applicant.Customer.Business; b != nil {
		return b.Country
	}
	return r.applicant.Customer.Nationality
}

// holder returns the holder that a path names. Fault: BENEFICIAL_OWNER_NOT_FOUND for the owner of
// someone else.
func (r *request) holder() (document.Holder, error) {
	var owner ident.BeneficialOwner
	if name := r.PathValue("holder"); name != "own" {
		id, err := uuid.Parse(name)
		if err != nil {
			return document.Holder{}, errNotFound
		}
		owner.SetUUID(id)
	}
	return r.applicant.Holder(owner)
}

func (p *Pages) showUpload(r *request) error {
	form, err := uploadFormOf(r)
	if err != nil {
		return err
	}
	if !r.applicant.CanChange {
		return redirect(r, home)
	}
	return p.render(r, http.StatusOK, "form.html", form)
}

func (p *Pages) upload(r *request) error {
	h, err := r.holder()
	if err != nil {
		return err
	}
	if r.isFileTooLarge {
		form := uploadForm(r, h)
		form.field("file").Problem = "problem.large"
		return p.showAgain(r, form, http.StatusRequestEntityTooLarge)
	}
	sent := customers.DocumentRequest{File: r.file, Details: document.Details{Type: document.Type(r.text("documentType")),
		Side:    document.Side(r.text("side")),
		Country: r.text("country"), Number: r.text("documentNumber"), IssuingAuthority: r.text("issuingAuthority")}}
	return p.finish(r, uploadForm(r, h), p.SelfService.Upload(r.Context(), r.secret, h.Owner, sent), documentsURL(h.Owner))
}

// removeDocument deletes a document that was uploaded. One that is gone, because the button was pressed
// twice, is no problem.
func (p *Pages) removeDocument(r *request) error {
	h, err := r.holder()
	if err != nil {
		return err
	}
	sent, err := uuid.Parse(r.text("document"))
	if err != nil {
		return errUnreadable
	}
	var id ident.Document
	id.SetUUID(sent)
	if err := p.SelfService.RemoveDocument(r.Context(), r.secret, id); err != nil && faultOf(err).Code != fault.DocumentNotFound {
		return err
	}
	return redirect(r, documentsURL(h.Owner))
}
