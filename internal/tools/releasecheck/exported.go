package main

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// exportedList lists the exported names of all packages for import, a line each. A test writes it with -update.
const exportedList = "internal/tools/releasecheck/testdata/exported.txt"

// changedNames finds exported names that are not in the list, and names in the list that are gone.
func changedNames(_ context.Context, r *repository) (found []string, err error) {
	list, err := r.read(exportedList)
	if err != nil {
		return nil, err
	}
	names, err := exportedNames(r.dir)
	if err != nil {
		return nil, err
	}
	listed := strings.Split(strings.TrimSuffix(list, "\n"), "\n")
	for _, name := range names {
		if !slices.Contains(listed, name) {
			found = append(found, name+" is exported, and not in "+exportedList)
		}
	}
	for _, name := range listed {
		if !slices.Contains(names, name) {
			found = append(found, name+" is in "+exportedList+", and not exported any more")
		}
	}
	return found, nil
}

// exportedNames returns the exported names of all packages below dir that others can import, on any system: constants,
// variables, functions, types, their fields and methods.
func exportedNames(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch base := path.Base(name); {
		case name == ".":
		case d.IsDir() && (slices.Contains(neverTagged, name) || base == "internal" || base == "testdata" || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
			if err != nil || parsed.Name.Name == "main" {
				return err
			}
			for _, declared := range declaredNames(parsed) {
				names = append(names, path.Dir(name)+": "+declared)
			}
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// declaredNames returns what a file declares and exports, as kind and name.
func declaredNames(file *ast.File) (names []string) {
	add := func(kind, prefix string, idents ...*ast.Ident) {
		for _, ident := range idents {
			if ident.IsExported() {
				names = append(names, kind+" "+prefix+ident.Name)
			}
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add("func", "", d.Name)
			} else if of := typeName(d.Recv.List[0].Type); of.IsExported() {
				add("method", of.Name+".", d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					add(d.Tok.String(), "", s.Names...)
				case *ast.TypeSpec:
					add("type", "", s.Name)
					if kind, members := membersOf(s.Type); s.Name.IsExported() {
						add(kind, s.Name.Name+".", members...)
					}
				}
			}
		}
	}
	return names
}

// membersOf returns the fields of a struct, or the methods of an interface.
func membersOf(e ast.Expr) (kind string, members []*ast.Ident) {
	var list *ast.FieldList
	switch t := e.(type) {
	case *ast.StructType:
		kind, list = "field", t.Fields
	case *ast.InterfaceType:
		kind, list = "method", t.Methods
	default:
		return "", nil
	}
	for _, field := range list.List {
		if members = append(members, field.Names...); len(field.Names) == 0 { // embedded
			members = append(members, typeName(field.Type))
		}
	}
	return kind, members
}

// typeName returns the name of a type without its package, pointer and type parameters.
func typeName(e ast.Expr) *ast.Ident {
	switch t := e.(type) {
	case *ast.Ident:
		return t
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel
	}
	return ast.NewIdent("_")
}
