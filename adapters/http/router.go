package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"
)

// router finds the path item of a path. A tree of httprouter can have neither a literal
// beside a parameter nor two names for one parameter. So the patterns are spread over
// several trees (layers), which are searched in turn, most literal first, and parameters
// are identified by position. The path is matched before the method: DELETE /agents/me
// matches /agents/me, never /agents/{agentId}.
type router struct {
	layers []*httprouter.Router
	items  map[string]*pathItem // by pattern
	// literals are the segments of all patterns that are no parameters.
	literals []string
}

// pathItem is one path pattern with the route of each method.
type pathItem struct {
	pattern  string // "/2025-10-13/quotes/{quoteId}"
	segments []string
	names    []string
	methods  map[string]*route
	allow    string // the Allow header
}

// match receives the item from the handle of httprouter.
type match struct {
	http.ResponseWriter
	item *pathItem
}

func newRouter() *router { return &router{items: map[string]*pathItem{}} }

// add registers a route at a pattern with parameters in braces. It panics if the
// pattern and method are already registered.
func (r *router) add(method, pattern string, rt *route) {
	item, ok := r.items[pattern]
	if !ok {
		item = &pathItem{pattern: pattern, segments: segments(pattern), methods: map[string]*route{}}
		for _, segment := range item.segments {
			if name, isParam := parseParameter(segment); isParam {
				item.names = append(item.names, name)
			}
		}
		r.items[pattern] = item
	}
	if _, exists := item.methods[method]; exists {
		panic(fmt.Sprintf("httpapi: %s %s is registered twice", method, pattern))
	}
	item.methods[method] = rt
	r.layers = nil
}

// build creates the layers. It must be called before find.
func (r *router) build() {
	items := make([]*pathItem, 0, len(r.items))
	for _, item := range r.items {
		item.allow = allowHeader(item.methods)
		items = append(items, item)
		for _, segment := range item.segments {
			if _, isParam := parseParameter(segment); !isParam && !slices.Contains(r.literals, segment) {
				r.literals = append(r.literals, segment)
			}
		}
	}
	slices.SortFunc(items, func(a, b *pathItem) int { return compareSpecificity(a.segments, b.segments) })

	placed := make([][]*pathItem, 0, 4)
	for n, item := range items {
		if n > 0 && positionalPattern(items[n-1].pattern) == positionalPattern(item.pattern) {
			panic(fmt.Sprintf("httpapi: %s and %s are the same path", items[n-1].pattern, item.pattern))
		}
		layer := 0
		for i, others := range placed {
			for _, other := range others {
				if overlaps(item.segments, other.segments) || conflicts(item.segments, other.segments) {
					layer = i + 1
				}
			}
		}
		if layer == len(placed) {
			placed = append(placed, nil)
		}
		placed[layer] = append(placed[layer], item)
	}

	r.layers = make([]*httprouter.Router, len(placed))
	for i, items := range placed {
		r.layers[i] = httprouter.New()
		for _, item := range items {
			r.layers[i].Handle(http.MethodGet, positionalPattern(item.pattern), func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
				w.(*match).item = item
			})
		}
	}
}

// find sets the item of m for an escaped path and returns the parameters, still escaped.
// All patterns are registered under GET, whatever their methods.
func (r *router) find(escapedPath string, m *match) httprouter.Params {
	for _, layer := range r.layers {
		if handle, params, _ := layer.Lookup(http.MethodGet, escapedPath); handle != nil {
			if slices.ContainsFunc(params, func(p httprouter.Param) bool { return p.Value == "" }) {
				return nil // an empty parameter, as in "/quotes//execute"
			}
			handle(m, nil, params)
			return params
		}
	}
	return nil
}

// unescape decodes path parameters in place. It returns false if one is not valid text.
func unescape(params httprouter.Params) bool {
	for i := range params {
		if strings.IndexByte(params[i].Value, '%') >= 0 {
			plain, err := url.PathUnescape(params[i].Value)
			if err != nil {
				return false
			}
			params[i].Value = plain
		}
		if !isValidText(params[i].Value) {
			return false
		}
	}
	return true
}

// isValidText reports whether the database can store a value: UTF-8 without NUL.
func isValidText(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

func (p *pathItem) route(method string) *route {
	if rt, ok := p.methods[method]; ok {
		return rt
	}
	if method == http.MethodHead { // the server drops the body
		return p.methods[http.MethodGet]
	}
	return nil
}

func allowHeader(methods map[string]*route) string {
	names := []string{http.MethodOptions}
	for name := range methods {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func segments(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }

func parseParameter(segment string) (string, bool) {
	name, ok := strings.CutPrefix(segment, "{")
	return strings.TrimSuffix(name, "}"), ok
}

// positionalPattern renames the n-th parameter to :n, so that each position has one name.
func positionalPattern(pattern string) string {
	out, n := strings.Builder{}, 0
	for _, segment := range segments(pattern) {
		out.WriteByte('/')
		if _, ok := parseParameter(segment); ok {
			out.WriteString(":" + strconv.Itoa(n))
			n++
			continue
		}
		out.WriteString(segment)
	}
	return out.String()
}

// compareSpecificity orders patterns, as segments, so that, of two that match the same path, the one
// with a literal at the first difference comes first.
func compareSpecificity(a, b []string) int {
	for i := range min(len(a), len(b)) {
		_, aParam := parseParameter(a[i])
		_, bParam := parseParameter(b[i])
		switch {
		case aParam && !bParam:
			return 1
		case !aParam && bParam:
			return -1
		case !aParam && a[i] != b[i]:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// overlaps reports whether some path matches both patterns.
func overlaps(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		_, aParam := parseParameter(a[i])
		_, bParam := parseParameter(b[i])
		if !aParam && !bParam && a[i] != b[i] {
			return false
		}
	}
	return true
}

// conflicts reports whether a tree cannot hold both patterns: after a common prefix, one
// has a literal and the other a parameter.
func conflicts(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		_, aParam := parseParameter(a[i])
		_, bParam := parseParameter(b[i])
		if aParam != bParam {
			return true
		}
		if !aParam && a[i] != b[i] {
			return false
		}
	}
	return false
}
