package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// check reads every Go file of a tree and says what breaks the plan, one line a
// breach: the file, the line, what is wrong.
func check(tree fs.FS, module string) ([]string, error) {
	return walk(tree, module, func(f *file) {
		f.imports()
		if !f.test && withinAny(f.pkg, pure) {
			f.purity()
		}
	})
}

// walk examines every Go file of a tree, and gathers the breaches.
func walk(tree fs.FS, module string, examine func(*file)) ([]string, error) {
	var breaches []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := &file{module: module, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), set: set, ast: parsed}
		examine(f)
		breaches = append(breaches, f.breaches...)
		return nil
	})
	return breaches, err
}

// file is one Go file under examination.
type file struct {
	module, pkg string // pkg without the module
	test        bool
	set         *token.FileSet
	ast         *ast.File
	breaches    []string
}

func (f *file) breach(at token.Pos, format string, args ...any) {
	f.breaches = append(f.breaches, fmt.Sprintf("%s: %s", f.set.Position(at), fmt.Sprintf(format, args...)))
}

// imports holds every import of the file to the plan.
func (f *file) imports() {
	if level(f.pkg) < 0 && f.pkg != beside {
		f.breach(f.ast.Package, "package %s stands on no floor: put it on one, or name it in the rules", f.pkg)
		return
	}
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			f.breach(spec.Pos(), "import %s: %v", spec.Path.Value, err)
			continue
		}
		if own, ok := strings.CutPrefix(name, f.module+"/"); ok {
			if why := f.refuses(own); why != "" {
				f.breach(spec.Pos(), "%s imports %s: %s", f.pkg, own, why)
			}
		} else if !f.test && withinAny(f.pkg, pure) {
			f.pureImport(spec, name)
		}
	}
}

// refuses says why the file may not import a package of the house, or nothing.
func (f *file) refuses(own string) string {
	from, to := level(f.pkg), level(own)
	switch {
	case own == f.pkg: // a test from outside
		return ""
	case f.pkg == beside && !(f.test && own == testDatabases):
		return "migrations stand beside the house and import nothing of it"
	case own == beside:
		if floors[from].name == "roof" || f.pkg == testDatabases || floors[from].name == "whole house" || (f.test && from > level("ports")) {
			return ""
		}
		return "only the roof, and the databases of tests, bring up the schema"
	case own == testDatabases:
		if f.test && (from > level("ports") || f.pkg == beside) || within(f.pkg, testDatabases) || floors[from].name == "whole house" {
			return ""
		}
		return "it is for tests above the ports"
	case f.test && from > level("ports") && floors[to].name != "whole house" && floors[to].name != "roof":
		return "" // a test above the ports may set up whatever of the house it needs
	case to < 0:
		return "it stands on no floor"
	case to > from:
		return fmt.Sprintf("an import goes down, and %s is above %s", floors[to].name, floors[from].name)
	case to == from && !floors[from].siblings && room(own) != room(f.pkg):
		return "an import does not go sideways: what two rooms share belongs on a lower floor"
	}
	return ""
}

// pureImport holds an import from outside the house to what pure code may use.
func (f *file) pureImport(spec *ast.ImportSpec, name string) {
	standard := !strings.Contains(strings.SplitN(name, "/", 2)[0], ".")
	if standard && !slices.Contains(pureStandard, name) || !standard && !withinAny(name, pureModules) {
		f.breach(spec.Pos(), "%s is pure and imports %s", f.pkg, name)
	}
	// Only a blank import of embed does nothing but let the compiler read a file.
	if spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_") && name != "embed" {
		f.breach(spec.Pos(), "%s is pure and imports %s as %s, which hides what it does", f.pkg, name, spec.Name.Name)
	}
}

// purity looks for clocks, random numbers, floats, goroutines and the tags of
// another layer.
func (f *file) purity() {
	paths := f.importNames()
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(pureNot[paths[x.Name]], n.Sel.Name) {
				f.breach(n.Pos(), "%s is pure and uses %s.%s", f.pkg, x.Name, n.Sel.Name)
			}
			if slices.Contains([]string{"Float64", "Float32", "SetFloat64", "SetFloat"}, n.Sel.Name) {
				f.breach(n.Pos(), "%s is pure and goes through a float (%s)", f.pkg, n.Sel.Name)
			}
		case *ast.Ident:
			if slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, n.Name) {
				f.breach(n.Pos(), "%s is pure and has a %s", f.pkg, n.Name)
			}
		case *ast.BasicLit:
			if n.Kind == token.FLOAT || n.Kind == token.IMAG {
				f.breach(n.Pos(), "%s is pure and has the float %s", f.pkg, n.Value)
			}
		case *ast.GoStmt:
			f.breach(n.Pos(), "%s is pure and starts a goroutine", f.pkg)
		case *ast.Field:
			if n.Tag != nil {
				f.breach(n.Tag.Pos(), "%s is domain and carries the tag %s", f.pkg, n.Tag.Value)
			}
		}
		return true
	})
}

// importNames maps the names that the file uses for its imports to their paths.
func (f *file) importNames() map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		short := path.Base(name)
		if spec.Name != nil {
			short = spec.Name.Name
		}
		names[short] = name
	}
	return names
}
