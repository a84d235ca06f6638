package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// proposalsPage lists changes of the books that were proposed.
type proposalsPage struct {
	page
	Status   proposal.Status
	Statuses []proposal.Status
	Found    ports.Page[proposal.Stated]
	Names    map[string]string // of authors
	Older    string
}

func (c *Console) showProposals(r *request) error {
	query := r.URL.Query()
	data := proposalsPage{page: c.page(r, "Approvals", "proposals"), Status: proposal.Status(query.Get("status")), Statuses: proposal.Statuses}
	if data.Status != "" && !slices.Contains(proposal.Statuses, data.Status) {
		return errNotFound
	}
	var err error
	data.Found, err = c.Proposals.Proposals(r.Context(), r.platform.ID, ports.ProposalFilter{
		Paging: ports.Paging{Limit: pageSize, After: after(query)}, Status: data.Status})
	if err != nil {
		return err
	}
	if n := len(data.Found.Items); data.Found.More {
		data.Older = url.Values{"status": {string(data.Status)}, "after": {data.Found.Items[n-1].ID.UUID().String()}}.Encode()
	}
	var authors []platform.Author
	for _, p := range data.Found.Items {
		authors = append(authors, p.By, p.DecidedBy)
	}
	if data.Names, err = c.actorNames(r, authors...); err != nil {
		return err
	}
	return c.render(r, http.StatusOK, "proposals.html", data)
}

// proposalPage shows one proposal, and lets a second person decide it.
type proposalPage struct {
	page
	proposal.Stated
	// Sections are the request and what it comes to, and Request and Figures both as they are stored.
	Sections         []section
	Request, Figures string
	Names            map[string]string // of authors
	// Problem says why the last decision was not made.
	Problem string
	Note    string
}

// NameOf says what a change does.
func (proposalsPage) NameOf(p proposal.Stated) string { return changeName(p.Proposal) }

// IsOwn reports whether the person who looks has made the proposal, or the token that did.
func (p proposalPage) IsOwn() bool { return p.IsBy(p.Person) }

func (c *Console) showProposal(r *request) error { return c.proposalWith(r, http.StatusOK, "") }

func (c *Console) proposalWith(r *request, status int, problem string) error {
	id, err := ident.ParseProposal(ident.Proposal{}.Prefix() + ":" + r.PathValue("proposal"))
	if err != nil {
		return errNotFound
	}
	found, err := c.Proposals.Proposal(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	data := proposalPage{page: c.page(r, changeName(found.Proposal), "proposals"), Stated: found, Request: indented(found.Request),
		Figures: indented(found.Figures), Problem: problem, Note: r.PostFormValue("note")}
	data.Sections = append(documentSections("The change", data.Base, found.Request),
		documentSections("What it comes to", data.Base, found.Figures)...)
	if data.MayApprove() && found.Status == proposal.Pending {
		if err := c.askToConfirm(r, &data.page); err != nil {
			return err
		}
	}
	if data.Names, err = c.actorNames(r, found.By, found.DecidedBy); err != nil {
		return err
	}
	return c.render(r, status, "proposal.html", data)
}

func indented(document []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, document, "", "  ") != nil {
		return ""
	}
	return out.String()
}

// decideProposal approves or rejects a proposal, as the person who has signed in, after another code of its second factor.
func (c *Console) decideProposal(r *request) error {
	id, err := ident.ParseProposal(ident.Proposal{}.Prefix() + ":" + r.PathValue("proposal"))
	if err != nil {
		return errNotFound
	}
	if err := c.confirm(r, "code"); err != nil {
		return c.notDecided(r, err)
	}
	by, err := c.author(r)
	if err != nil {
		return err
	}
	switch r.PostFormValue("decision") {
	case "approve":
		_, err = c.Proposals.Approve(r.Context(), r.platform.ID, by, nil, id)
	case "reject":
		_, err = c.Proposals.Reject(r.Context(), r.platform.ID, by, nil, id, r.PostFormValue("note"))
	default:
		return errUnreadable
	}
	if err != nil {
		return c.notDecided(r, err)
	}
	return redirect(r, basePath(r.platform.ID)+"/proposals/"+id.UUID().String())
}

// notDecided shows the proposal with the reason for which it was not decided.
func (c *Console) notDecided(r *request, err error) error {
	f, ok := fault.As(err)
	if !ok || f.Code.Status() >= http.StatusInternalServerError || f.Code.Status() == http.StatusNotFound {
		return err
	}
	return c.proposalWith(r, f.Code.Status(), f.Message)
}
