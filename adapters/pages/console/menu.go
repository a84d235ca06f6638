package console

import (
	"net/http"
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// menuItem is a page of the navigation. Section is what its pages name, and To its path below that of the platform, or below /console
// for what belongs to no platform.
type menuItem struct {
	Section, Name, To string
	Right             person.Right
	IsGlobal          bool
}

// menuGroup is pages that belong together; the first one that a person may see opens with the name of the group.
type menuGroup struct {
	Name  string
	Items []menuItem
}

var menu = []menuGroup{
	{"Overview", []menuItem{{"home", "Overview", "", person.View, false}}},
	{"Payments", []menuItem{{"payments", "Payments", "/payments", person.View, false}}},
	{"Customers", []menuItem{{"customers", "Customers", "/customers", person.View, false}}},
	{"Finance", []menuItem{
		{"balance", "Trial balance", "/trial-balance", person.View, false},
		{"financials", "Financial statements", "/financial-statements", person.View, false},
		{"months", "Month end", "/months", person.View, false},
		{"breaks", "Breaks", "/breaks", person.View, false},
		{"reconciliations", "Statements", "/reconciliations", person.View, false},
		{"unmatched", "Unmatched funds", "/unmatched", person.View, false},
		{"journals", "Journals", "/journals", person.View, false},
		{"receivables", "Receivables", "/receivables", person.View, false},
		{"safeguarding", "Safeguarding", "/safeguarding", person.View, false},
		{"fx", "FX position", "/fx-position", person.View, false},
		{"chart-of-accounts", "Chart of accounts", "/chart-of-accounts", person.View, false},
		{"books-settings", "Settings of the books", "/books-settings", person.View, false},
		{"checkpoints", "Checkpoints", "/checkpoints", person.View, false},
		{"exports", "Exports", "/exports", person.View, false},
	}},
	{"Compliance", []menuItem{
		{"reviews", "Reviews", "/reviews", person.View, false},
		{"agent-approvals", "Payments of agents", "/agent-approvals", person.View, false},
	}},
	{"Approvals", []menuItem{
		{"proposals", "Of the books", "/proposals", person.View, false},
		{"changes", "Prices and connections", "/changes", person.View, true},
	}},
	{"Operations", []menuItem{
		{"webhooks", "Webhooks", "/webhooks", person.View, false},
		{"state", "State", "/state", person.ViewConnections, false},
		{"jobs", "Jobs", "/jobs", person.ViewConnections, false},
		{"connections", "Connections", "/connections", person.ViewConnections, true},
		{"rail-payments", "Payments of connections", "/rail-payments", person.ViewConnections, true},
		{"processes", "Processes", "/processes", person.ViewConnections, true},
	}},
	{"Developers", []menuItem{
		{"events", "Events", "/events", person.View, false},
		{"requests", "Requests", "/requests", person.View, false},
		{"tokens", "Tokens", "/tokens", person.View, false},
		{"test-values", "Test values", "/test-values", person.View, false},
	}},
	{"Audit", []menuItem{
		{"audit", "Of the platform", "/audit", person.ViewAudit, false},
		{"audit-all", "Of the service", "/audit", person.ViewAudit, true},
	}},
}

// menuLink is an entry of the navigation as it is shown.
type menuLink struct {
	Name, To  string
	IsCurrent bool
}

func (p page) mayOpen(i menuItem) bool {
	if i.Section == "test-values" && p.around.Environment != platform.Sandbox {
		return false
	}
	if i.IsGlobal {
		return p.Person.May(i.Right, ident.Platform{})
	}
	return p.Around != "" && p.Person.May(i.Right, p.around.ID)
}

func (p page) link(i menuItem, name string, isCurrent bool) menuLink {
	if i.IsGlobal {
		return menuLink{name, root + i.To, isCurrent}
	}
	return menuLink{name, p.Around + i.To, isCurrent}
}

func (g menuGroup) has(section string) bool {
	return slices.ContainsFunc(g.Items, func(i menuItem) bool { return i.Section == section })
}

// Menu returns the groups of pages that the person may see.
func (p page) Menu() (links []menuLink) {
	for _, g := range menu {
		if i := slices.IndexFunc(g.Items, p.mayOpen); i >= 0 {
			links = append(links, p.link(g.Items[i], g.Name, g.has(p.Section)))
		}
	}
	return links
}

// Tabs returns the pages of the current group that the person may see; none if there is one only.
func (p page) Tabs() (links []menuLink) {
	for _, g := range menu {
		if !g.has(p.Section) {
			continue
		}
		for _, i := range g.Items {
			if p.mayOpen(i) {
				links = append(links, p.link(i, i.Name, i.Section == p.Section))
			}
		}
	}
	if len(links) == 1 {
		return nil
	}
	return links
}

// lastPlatform is the name of the cookie of the platform whose pages were open last. It gives no right.
const lastPlatform = "console-platform"

func (c *Console) rememberPlatform(r *request) {
	id := r.platform.ID.UUID().String()
	if last, err := r.Cookie(lastPlatform); err != nil || last.Value != id {
		http.SetCookie(r.w, &http.Cookie{Name: lastPlatform, Value: id, Path: root, Secure: c.site.IsSecure, HttpOnly: true,
			SameSite: http.SameSiteLaxMode})
	}
}

// recallPlatform sets the platform whose pages were open last, for the navigation, without which a page is shown too.
func (c *Console) recallPlatform(r *request) {
	last, err := r.Cookie(lastPlatform)
	if err != nil {
		return // there is none
	}
	id, err := ident.ParsePlatform(ident.Platform{}.Prefix() + ":" + last.Value)
	if err != nil || !r.in.Person.May(person.View, id) {
		return // it is of another person
	}
	if r.last, err = c.Platforms.Settings(ports.ForPlatform(r.Context(), id), id); err != nil && !fault.Is(err, fault.NotFound) {
		c.Log.WithError(err).Warn("the platform for the navigation was not read")
	}
}
