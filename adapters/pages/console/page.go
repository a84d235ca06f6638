package console

import (
	"net/http"

	"causeway/adapters/pages/web"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
)

// page is what every template shows.
type page struct {
	Title   string
	Version string
	// FormToken is the token of forms in a session.
	FormToken string
	// Person is signed in; zero on the pages before.
	Person   person.Person
	Platform platform.Platform // zero on pages of no platform
	// Base is the path of the pages of the platform, and Section the entry of the navigation that is current.
	Base, Section string
	// Around is the path of the pages of the platform that the navigation and the search have: on a page of no platform, the last one.
	Around string
	around platform.Platform
	Query  string // of the search
	// Script: the page runs the script of passkeys. Confirm is how its form is confirmed.
	Script bool
	// Quick: the page runs htmx, which replaces the list in place of the page when it is filtered or paged.
	Quick bool
	// Refreshes: a part of the page is read again while somebody sees it, from Live until that is empty.
	Refreshes bool
	Live      string
	Confirm   confirmBox
}

func (c *Console) page(r *request, title, section string) page {
	p := page{Title: title, Version: c.Version, Section: section, Person: r.in.Person, Platform: r.platform}
	if r.secret != "" {
		p.FormToken = web.FormToken(r.secret)
	}
	p.around = r.last
	if !r.platform.ID.IsZero() {
		p.Base, p.around = basePath(r.platform.ID), r.platform
	}
	if !p.around.ID.IsZero() {
		p.Around = basePath(p.around.ID)
	}
	return p
}

// mayViewSettings reports whether the person may see the settings of connections: also who approves their changes.
func (p page) mayViewSettings() bool {
	return p.Person.May(person.ApproveBooks, ident.Platform{}) || p.MayViewConnections()
}

// MayViewConnections reports whether the person may see the jobs of the platform.
func (p page) MayViewConnections() bool { return p.Person.May(person.ViewConnections, p.Platform.ID) }

// MayManagePeople reports whether the person may see who has which role.
func (p page) MayManagePeople() bool { return p.Person.May(person.ManagePeople, ident.Platform{}) }

// MayManageService reports whether the person may change the platform.
func (p page) MayManageService() bool { return p.Person.May(person.ManageService, p.Platform.ID) }

// MayReveal reports whether the person may see personal data in full.
func (p page) MayReveal() bool { return p.Person.May(person.ViewPersonalData, p.Platform.ID) }

// MayApprove reports whether the person may approve changes of the books.
func (p page) MayApprove() bool { return p.Person.May(person.ApproveBooks, p.Platform.ID) }

// MayKeepBooks reports whether the person may change the books.
func (p page) MayKeepBooks() bool { return p.Person.May(person.KeepBooks, p.Platform.ID) }

// IsSandbox reports whether the platform moves no money.
func (p page) IsSandbox() bool { return p.Platform.Environment == platform.Sandbox }

func basePath(p ident.Platform) string { return platformPath + p.UUID().String() }

func (c *Console) render(r *request, status int, name string, data any) error {
	z, err := zoneOf(r.in.Person)
	if err != nil {
		return err
	}
	return web.Write(r.w, status, z.templates, name, data)
}

// redirect goes to another page with GET.
func redirect(r *request, to string) error {
	http.Redirect(r.w, r.Request, to, http.StatusSeeOther)
	return nil
}
