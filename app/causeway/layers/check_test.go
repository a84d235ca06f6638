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
		f.checkImports()
		if !f.test && inAnyPath(f.pkg, purePaths) {
			f.checkPurity()
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
		f := &file{module: module, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go") || path.Dir(name) == testEnvironmentPackage, set: set, ast: parsed}
		examine(f)
		breaches = append(breaches, f.violations...)
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
	violations  []string
}

func (f *file) report(at token.Pos, format string, args ...any) {
	f.violations = append(f.violations, fmt.Sprintf("%s: %s", f.set.Position(at), fmt.Sprintf(format, args...)))
}

// checkImports holds every import of the file to the plan.
func (f *file) checkImports() {
	if layerOf(f.pkg) < 0 && f.pkg != migrationsPackage {
		f.report(f.ast.Package, "package %s stands on no floor: put it on one, or name it in the rules", f.pkg)
		return
	}
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			f.report(spec.Pos(), "import %s: %v", spec.Path.Value, err)
			continue
		}
		if own, ok := strings.CutPrefix(name, f.module+"/"); ok {
			if why := f.importViolation(own); why != "" {
				f.report(spec.Pos(), "%s imports %s: %s", f.pkg, own, why)
			}
		} else if !f.test && inAnyPath(f.pkg, purePaths) {
			f.checkPureImport(spec, name)
		}
	}
}

// importViolation says why the file may not import a package of the house, or nothing.
func (f *file) importViolation(own string) string {
	from, to := layerOf(f.pkg), layerOf(own)
	switch {
	case own == f.pkg: // a test from outside
		return ""
	case f.pkg == migrationsPackage && !(f.test && own == testDatabasePackage):
		return "migrations stand beside the house and import nothing of it"
	case own == migrationsPackage:
		if layers[from].name == "roof" || f.pkg == testDatabasePackage || layers[from].name == "whole house" || (f.test && from > layerOf("ports")) {
			return ""
		}
		return "only the roof, and the databases of tests, bring up the schema"
	case own == testDatabasePackage:
		if f.test && (from > layerOf("ports") || f.pkg == migrationsPackage) || inPath(f.pkg, testDatabasePackage) || layers[from].name == "whole house" {
			return ""
		}
		return "it is for tests above the ports"
	case own == testEnvironmentPackage && !f.test:
		return "it is for tests of use cases"
	case f.test && from > layerOf("ports") && layers[to].name != "whole house" && layers[to].name != "roof":
		return "" // a test above the ports may set up whatever of the house it needs
	case to < 0:
		return "it stands on no floor"
	case to > from:
		return fmt.Sprintf("an import goes down, and %s is above %s", layers[to].name, layers[from].name)
	case to == from && !layers[from].siblingImports && componentOf(own) != componentOf(f.pkg):
		return "an import does not go sideways: what two rooms share belongs on a lower floor"
	}
	return ""
}

// checkPureImport holds an import from outside the house to what pure code may use.
func (f *file) checkPureImport(spec *ast.ImportSpec, name string) {
	standard := !strings.Contains(strings.SplitN(name, "/", 2)[0], ".")
	if standard && !slices.Contains(pureStdlib, name) || !standard && !inAnyPath(name, pureModules) {
		f.report(spec.Pos(), "%s is pure and imports %s", f.pkg, name)
	}
	// Only a blank import of embed does nothing but let the compiler read a file.
	if spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_") && name != "embed" {
		f.report(spec.Pos(), "%s is pure and imports %s as %s, which hides what it does", f.pkg, name, spec.Name.Name)
	}
}

// checkPurity looks for clocks, random numbers, floats, goroutines and the tags of
// another layer.
func (f *file) checkPurity() {
	paths := f.importNames()
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(impureFuncs[paths[x.Name]], n.Sel.Name) {
				f.report(n.Pos(), "%s is pure and uses %s.%s", f.pkg, x.Name, n.Sel.Name)
			}
			if slices.Contains([]string{"Float64", "Float32", "SetFloat64", "SetFloat"}, n.Sel.Name) {
				f.report(n.Pos(), "%s is pure and goes through a float (%s)", f.pkg, n.Sel.Name)
			}
		case *ast.Ident:
			if slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, n.Name) {
				f.report(n.Pos(), "%s is pure and has a %s", f.pkg, n.Name)
			}
		case *ast.BasicLit:
			if n.Kind == token.FLOAT || n.Kind == token.IMAG {
				f.report(n.Pos(), "%s is pure and has the float %s", f.pkg, n.Value)
			}
		case *ast.GoStmt:
			f.report(n.Pos(), "%s is pure and starts a goroutine", f.pkg)
		case *ast.Field:
			if n.Tag != nil {
				f.report(n.Tag.Pos(), "%s is domain and carries the tag %s", f.pkg, n.Tag.Value)
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
