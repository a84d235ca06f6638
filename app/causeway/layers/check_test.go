package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// check returns the violations of the import and purity rules in every Go file of a tree, each
// with file and line.
func check(tree fs.FS, module string) ([]string, error) {
	return walk(tree, module, func(f *file) {
		f.checkImports()
		if !f.test && inAnyPath(f.pkg, purePaths) {
			f.checkPurity()
		}
	})
}

// walk calls examine for every Go file of a tree and returns the violations.
func walk(tree fs.FS, module string, examine func(*file)) ([]string, error) {
	var violations []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case isSkipped(tree, name, entry):
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
		f := &file{module: module, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go") || slices.Contains(testEnvironmentPackages,
			path.Dir(name)),
			set: set, ast: parsed}
		examine(f)
		violations = append(violations, f.violations...)
		return nil
	})
	return violations, err
}

// isSkipped reports whether an entry is a folder without packages of this module, such as clients/go, a module of its own.
func isSkipped(tree fs.FS, name string, entry fs.DirEntry) bool {
	if !entry.IsDir() || name == "." {
		return false
	}
	_, err := fs.Stat(tree, path.Join(name, "go.mod"))
	return err == nil || strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"testdata", "node_modules"}, entry.Name())
}

// file is one parsed Go file.
type file struct {
	module, pkg string // pkg without the module
	test        bool
	set         *token.FileSet
	ast         *ast.File
	violations  []string
}

func (f *file) report(pos token.Pos, format string, args ...any) {
	f.violations = append(f.violations, fmt.Sprintf("%s: %s", f.set.Position(pos), fmt.Sprintf(format, args...)))
}

// checkImports checks every import of the file.
func (f *file) checkImports() {
	if layerOf(f.pkg) < 0 && f.pkg != migrationsPackage {
		f.report(f.ast.Package, "package %s is in no layer: move it into one, or add it to the rules", f.pkg)
		return
	}
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			f.report(spec.Pos(), "import %s: %v", spec.Path.Value, err)
			continue
		}
		if imported, ok := strings.CutPrefix(name, f.module+"/"); ok {
			if reason := f.importViolation(imported); reason != "" {
				f.report(spec.Pos(), "%s imports %s: %s", f.pkg, imported, reason)
			}
		} else if !f.test && inAnyPath(f.pkg, purePaths) {
			f.checkPureImport(spec, name)
		}
	}
}

// importViolation returns why the file may not import a package of this module, or "".
func (f *file) importViolation(imported string) string {
	from, to := layerOf(f.pkg), layerOf(imported)
	switch {
	case imported == f.pkg: // an external test package
		return ""
	case f.pkg == migrationsPackage && !(f.test && imported == testDatabasePackage):
		return "migrations import no other package of the module"
	case imported == migrationsPackage:
		if layers[from].name == "main" || f.pkg == testDatabasePackage || layers[from].name == "e2e" || (f.test && from > layerOf("ports")) {
			return ""
		}
		return "only main, e2e and test databases run migrations"
	case slices.Contains(testEnvironmentPackages, imported) && !f.test:
		return "it is for tests of use cases"
	case imported == testDatabasePackage:
		if f.test && (from > layerOf("ports") || f.pkg == migrationsPackage) || inPath(f.pkg, testDatabasePackage) || layers[from].name == "e2e" {
			return ""
		}
		return "it is for tests of the layers above ports"
	case f.test && from > layerOf("ports") && layers[to].name != "e2e" && layers[to].name != "main":
		return "" // tests of the layers above ports may use any package below main
	case to < 0:
		return "it is in no layer"
	case to > from:
		return fmt.Sprintf("imports point down, and %s is above %s", layers[to].name, layers[from].name)
	case f.pkg == testDatabasePackage && imported == codecsPackage,
		inPath(f.pkg, connectorsPath) && slices.Contains(connectorPackages, imported):
		return ""
	case to == from && !layers[from].siblingImports && componentOf(imported) != componentOf(f.pkg):
		return "imports do not go sideways: move what both share to a lower layer"
	}
	return ""
}

// checkPureImport checks an import from outside the module against the lists for pure code.
func (f *file) checkPureImport(spec *ast.ImportSpec, name string) {
	standard := !strings.Contains(strings.SplitN(name, "/", 2)[0], ".")
	known := standard && slices.Contains(pureStdlib, name) || !standard && inAnyPath(name, pureModules)
	if !known && !(inPath(f.pkg, formatsPath) && (slices.Contains(formatsImports, name) || !standard && inAnyPath(name, formatsImports))) {
		f.report(spec.Pos(), "%s is pure and imports %s", f.pkg, name)
	}
	// A blank import of embed has no effect at run time; it enables //go:embed.
	if spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_") && name != "embed" {
		f.report(spec.Pos(), "%s is pure and imports %s as %s, which hides what it does", f.pkg, name, spec.Name.Name)
	}
}

// checkPurity reports clocks, random numbers, floats, goroutines and struct tags.
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
			if n.Tag != nil && !inPath(f.pkg, formatsPath) {
				f.report(n.Tag.Pos(), "%s is domain and carries the tag %s", f.pkg, n.Tag.Value)
			}
		}
		return true
	})
}

// majorVersion is the end of an import path that is not the name of the package.
var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// importNames maps the names that the file uses for its imports to their paths.
func (f *file) importNames() map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		short := path.Base(name)
		if majorVersion.MatchString(short) {
			short = path.Base(path.Dir(name))
		}
		if spec.Name != nil {
			short = spec.Name.Name
		}
		names[short] = name
	}
	return names
}
